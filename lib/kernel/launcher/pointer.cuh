#ifndef CUDAL1_POINTER
#define CUDAL1_POINTER
namespace cudal1_host {
// A device pointer handed to a kernel that names its element type otherwise.
struct pointer {
  const void* address;
  template <typename T>
  operator T*() const { return (T*)address; }
};
}  // namespace cudal1_host
#endif
