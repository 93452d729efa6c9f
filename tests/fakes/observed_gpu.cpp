// SPDX-License-Identifier: Apache-2.0
// A driver and a CUPTI in one, over the host's memory, for what watches a program on a GPU: kernels are functions of the
// host, and whoever subscribed is called before and after each launch.
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <elf.h>

namespace {

struct Kernel {
  const char* symbol;
  std::vector<std::size_t> sizes;
  void (*run)(void**, unsigned);
};

float weight = 2;

void scale(void** p, unsigned threads) {
  float* x = *static_cast<float**>(p[0]);
  const float by = *static_cast<float*>(p[1]);
  for (int i = 0; i < *static_cast<int*>(p[2]) && i < static_cast<int>(threads); ++i) x[i] *= by * weight;
}
void add(void** p, unsigned threads) {
  float* x = *static_cast<float**>(p[0]);
  const float* y = *static_cast<const float**>(p[1]);
  for (unsigned i = 0; i < threads; ++i) x[i] += y[i];
}
Kernel kernels[] = {{"_Z5scalePffi", {8, 4, 4}, scale}, {"_ZN2ns3addIfEEvPT_PKS1_", {8, 8}, add}};

std::map<std::uintptr_t, std::size_t> ranges;
std::map<std::string, std::vector<int>> launched;   // milliseconds of each that was timed
int launches = 0;
bool timing = false;
CUpti_CallbackFunc subscriber = nullptr;
CUpti_BuffersCallbackRequestFunc hand_out = nullptr;
CUpti_BuffersCallbackCompleteFunc take_back = nullptr;

std::map<std::uintptr_t, std::size_t>::iterator holding(CUdeviceptr address) {
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return ranges.end();
  --after;
  return address - after->first < after->second ? after : ranges.end();
}

// A cubin that says: a kernel `scale` and a variable `weight` in constant memory.
std::string cubin() {
  const std::string section_names = std::string("\0.nv.constant3\0.text\0.symtab\0.strtab\0.shstrtab\0", 48);
  const std::string strings = std::string("\0weight\0_Z5scalePffi\0", 21);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  Elf64_Sym symbols[3]{};
  symbols[1].st_name = 1, symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), symbols[1].st_shndx = 1, symbols[1].st_size = 4;
  symbols[2].st_name = 8, symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), symbols[2].st_shndx = 2, symbols[2].st_size = 4;
  Elf64_Shdr sections[6]{};
  std::size_t at = sizeof header + sizeof sections;
  sections[1].sh_name = 1, sections[1].sh_type = SHT_PROGBITS;
  sections[2].sh_name = 15, sections[2].sh_type = SHT_PROGBITS;
  sections[3].sh_name = 21, sections[3].sh_type = SHT_SYMTAB, sections[3].sh_link = 4, sections[3].sh_offset = at, sections[3].sh_size = sizeof symbols;
  at += sizeof symbols;
  sections[4].sh_name = 29, sections[4].sh_type = SHT_STRTAB, sections[4].sh_offset = at, sections[4].sh_size = strings.size();
  at += strings.size();
  sections[5].sh_name = 37, sections[5].sh_type = SHT_STRTAB, sections[5].sh_offset = at, sections[5].sh_size = section_names.size();
  header.e_shoff = sizeof header, header.e_shnum = 6, header.e_shstrndx = 5;
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all.append(reinterpret_cast<const char*>(sections), sizeof sections).append(reinterpret_cast<const char*>(symbols), sizeof symbols);
  return all + strings + section_names;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  if (const char* path = std::getenv("CUDA_INJECTION64_PATH"))
    if (void* library = ::dlopen(path, RTLD_NOW)) reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"))();
  const std::string module = cubin();
  CUpti_ModuleResourceData loaded{1, module.size(), module.data()};
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &loaded;
  if (subscriber != nullptr) subscriber(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &resource);
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) { return std::strncpy(name, "a GPU of paper", static_cast<std::size_t>(bytes)), CUDA_SUCCESS; }
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  *pointer = reinterpret_cast<CUdeviceptr>(std::calloc(1, bytes));
  ranges[*pointer] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ranges.erase(pointer);
  std::free(reinterpret_cast<void*>(pointer));
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  const bool variable = from == reinterpret_cast<CUdeviceptr>(&weight);
  if (!variable && holding(from) == ranges.end()) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, std::size_t) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  const auto found = holding(pointer);
  if (found == ranges.end()) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t value = attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ? found->first : found->second;
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = reinterpret_cast<std::uintptr_t>(stream) == 7 ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) { return *event = reinterpret_cast<CUevent>(1), CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 0.25F, CUDA_SUCCESS; }
CUresult cuFuncGetModule(CUmodule* module, CUfunction) { return *module = reinterpret_cast<CUmodule>(1), CUDA_SUCCESS; }
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule, const char* name) {
  if (std::strcmp(name, "weight") != 0) return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(&weight);
  *bytes = sizeof weight;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  for (Kernel& kernel : kernels)
    if (std::strcmp(kernel.symbol, name) == 0) return *function = reinterpret_cast<CUfunction>(&kernel), CUDA_SUCCESS;
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& sizes = reinterpret_cast<const Kernel*>(function)->sizes;
  if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (std::size_t i = 0; i < index; ++i) *offset += sizes[i];
  *bytes = sizes[index];
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void** parameters,
                        void** extra) {
  const auto* const kernel = reinterpret_cast<const Kernel*>(f);
  cuLaunchKernel_params call{f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra};
  CUresult result = CUDA_SUCCESS;
  CUpti_CallbackData data{};
  data.functionParams = &call;
  data.functionReturnValue = &result;
  data.symbolName = kernel->symbol;
  data.callbackSite = CUPTI_API_ENTER;
  if (subscriber != nullptr) subscriber(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
  if (reinterpret_cast<std::uintptr_t>(stream) != 7) kernel->run(parameters, gx * bx);
  ++launches;
  if (timing) launched[kernel->symbol].push_back(launches <= 6000 ? 2 : 4);
  data.callbackSite = CUPTI_API_EXIT;
  if (subscriber != nullptr) subscriber(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
  return result;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback, void*) { return subscriber = callback, CUPTI_SUCCESS; }
CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  return hand_out = request, take_back = complete, CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return timing = true, CUPTI_SUCCESS; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return timing = false, CUPTI_SUCCESS; }
CUptiResult cuptiGetResultString(CUptiResult, const char** text) { return *text = "no", CUPTI_SUCCESS; }
// A buffer holds records one after the other; each launch takes two milliseconds, and after six thousand of them four.
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, most = 0, used = 0;
  hand_out(&buffer, &bytes, &most);
  for (auto& [symbol, times] : launched)
    for (; !times.empty() && used + sizeof(CUpti_ActivityKernel9) <= bytes; times.pop_back(), used += sizeof(CUpti_ActivityKernel9)) {
      CUpti_ActivityKernel9 record{};
      record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      record.start = 1'000'000, record.end = record.start + static_cast<std::uint64_t>(times.back()) * 1'000'000;
      record.name = symbol.c_str();
      std::memcpy(buffer + used, &record, sizeof record);
    }
  take_back(nullptr, 0, buffer, bytes, used);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  auto* const next = *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeof(CUpti_ActivityKernel9);
  if (next + sizeof(CUpti_ActivityKernel9) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

}  // extern "C"
