# SPDX-License-Identifier: Apache-2.0
"""Ways out of the process that runs a published answer. A test writes what is outside into OUTSIDE and lets this be part of
an answer, or of an ordinary program, which shows that a way out is one. Each function tries one: what it returns, if
anything, is a success, and an exception none. They do no harm where they succeed."""

import ctypes
import fcntl
import glob
import os
import resource
import signal
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)
ESCAPES = []
NUMBERS = {  # of x86-64
    "timer_create": 222,
    "shmget": 29, "semget": 64, "msgget": 68, "ptrace": 101, "personality": 135, "chroot": 161, "mount": 165, "swapon": 167, "sethostname": 170,
    "init_module": 175, "tgkill": 234, "mq_open": 240, "add_key": 248, "keyctl": 250, "ioprio_set": 251, "unshare": 272, "signalfd4": 289,
    "rt_sigqueueinfo": 129, "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303, "clock_adjtime": 305, "setns": 308,
    "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "pidfd_send_signal": 424,
    "open_tree": 428, "fsopen": 430, "clone3": 435, "clone": 56, "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440, "memfd_secret": 447,
    "migrate_pages": 256, "socket": 41, "openat2": 437, "sched_setattr": 314, "iopl": 172, "syslog": 103, "quotactl": 179, "settimeofday": 164,
}


def call(name, *arguments):
    result = libc.syscall(NUMBERS[name] if isinstance(name, str) else name, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def escape(name):
    def add(function):
        ESCAPES.append((name, function))
        return function

    return add


def simple(name, code):
    ESCAPES.append((name, lambda: eval(code, globals())))


def changed(path, change, seen):
    before = seen(os.stat(path))
    change()
    return seen(os.stat(path)) != before


# Files
simple("writes a file beside the task", "open(OUTSIDE['folder'] + '/new', 'w').write('x')")
simple("overwrites a file", "open(OUTSIDE['victim'], 'r+').write('y')")
simple("appends to a file", "open(OUTSIDE['victim'], 'a').write('y')")
simple("shortens a file", "os.truncate(OUTSIDE['victim'], 1) is None")
simple("removes a file", "os.remove(OUTSIDE['second']) is None")
simple("renames a file", "os.rename(OUTSIDE['third'], OUTSIDE['third'] + '.moved') is None")
simple("links a file into its own folder", "os.link(OUTSIDE['victim'], OUTSIDE['own'] + '/linked') is None")
simple("makes a link elsewhere", "os.symlink('x', OUTSIDE['folder'] + '/link') is None")
simple("makes a folder elsewhere", "os.mkdir(OUTSIDE['folder'] + '/made') is None")
simple("makes a pipe elsewhere", "os.mkfifo(OUTSIDE['folder'] + '/pipe') is None")
simple("reads a file of the user's", "open(OUTSIDE['private']).read()")
simple("reads it through /proc/self/root", "open('/proc/self/root' + OUTSIDE['private']).read()")
simple("reads it through a link of its own", "[os.symlink(OUTSIDE['private'], OUTSIDE['own'] + '/to%d' % os.getpid()), open(OUTSIDE['own'] + '/to%d' % os.getpid()).read()][1]")
simple("lists the user's home", "os.listdir(OUTSIDE['home'])")
simple("reads /etc/shadow", "open('/etc/shadow').read()")
simple("changes a file's mode", "changed(OUTSIDE['victim'], lambda: os.chmod(OUTSIDE['victim'], 0o777), lambda s: s.st_mode)")
simple("changes a file's times", "changed(OUTSIDE['victim'], lambda: os.utime(OUTSIDE['victim'], (1, 1)), lambda s: s.st_mtime)")
simple("makes a program that runs with its owner's rights", "[os.close(os.open(OUTSIDE['own'] + '/as%d' % os.getpid(), os.O_CREAT | os.O_WRONLY, 0o4755)), os.stat(OUTSIDE['own'] + '/as%d' % os.getpid()).st_mode & 0o4000][1]")
simple("opens a file by openat2, whose flags nobody can look at", "call('openat2', -100, b'.', struct.pack('<QQQ', 0, 0, 0), 24)")
simple("changes a file's attributes", "[os.setxattr(OUTSIDE['victim'], 'user.escaped', b'1'), os.listxattr(OUTSIDE['victim'])][1]")
simple("rewrites the program's own Python files", "open(OUTSIDE['program'] + '/protocol.py', 'a').write('')  or True")
simple("puts a compiled file beside them", "[os.makedirs(OUTSIDE['program'] + '/__pycache__', exist_ok=True), open(OUTSIDE['program'] + '/__pycache__/protocol.cpython-311.pyc', 'w')]")
simple("puts a module beside them", "open(OUTSIDE['program'] + '/socket.py', 'w')")
simple("writes to the place for temporary files", "open('/tmp/cudal1-escaped', 'w')")
simple("opens a disk", "[open(each, 'rb') for each in glob.glob('/dev/vd?') + glob.glob('/dev/sd?') + glob.glob('/dev/nvme?n?')][0]")
simple("opens the terminal", "open('/dev/tty', 'r+')")
simple("opens the kernel's memory", "open('/dev/mem', 'rb') or open('/proc/kcore', 'rb')")
simple("writes to /proc/sys", "open('/proc/sys/kernel/hostname', 'r+').write(socket.gethostname())")
simple("writes to sysrq-trigger", "open('/proc/sysrq-trigger', 'w')")
simple("opens a file by its handle", "call('name_to_handle_at', -100, OUTSIDE['victim'].encode(), ctypes.create_string_buffer(struct.pack('<Ii', 128, 0) + bytes(128)), ctypes.byref(ctypes.c_int()), 0)")


# The network, and servers of this machine
def connected(kind, address, family=socket.AF_UNIX):
    with socket.socket(family, kind) as channel:
        channel.connect(address)
        return channel.send(b"escaped")


@escape("sends a datagram from one of a pair of sockets")
def from_a_pair():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return one.sendto(b"escaped", "\0" + OUTSIDE["datagrams"])


@escape("the same by sendmsg")
def from_a_pair_by_message():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return one.sendmsg([b"escaped"], [], 0, "\0" + OUTSIDE["datagrams"])


@escape("the same from a pair in order")
def from_a_pair_in_order():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.sendmsg([b"escaped"], [], 0, "\0" + OUTSIDE["datagrams"])
    other.settimeout(0.2)
    return not other.recv(100)   # it stays within the pair


simple("connects to 127.0.0.1", "connected(socket.SOCK_STREAM, ('127.0.0.1', OUTSIDE['port']), socket.AF_INET)")
simple("sends a datagram to 127.0.0.1", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'escaped', ('127.0.0.1', OUTSIDE['port']))")
simple("connects by IPv6", "connected(socket.SOCK_STREAM, ('::1', OUTSIDE['port']), socket.AF_INET6) if socket.has_ipv6 else None")
simple("connects to a server by its path", "connected(socket.SOCK_STREAM, OUTSIDE['server'])")
simple("connects to an abstract server", "connected(socket.SOCK_STREAM, '\\0' + OUTSIDE['abstract'])")
simple("sends a datagram to an abstract server", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'escaped', '\\0' + OUTSIDE['datagrams'])")
simple("listens", "[s := socket.socket(socket.AF_UNIX), s.bind('\\0escaped%d' % os.getpid()), s.listen()]")
simple("asks the kernel's netlink", "socket.socket(16, socket.SOCK_RAW, 0)")
simple("takes a packet socket", "socket.socket(17, socket.SOCK_RAW, 0)")
simple("takes a socket of the kernel's ciphers", "socket.socket(38, socket.SOCK_SEQPACKET, 0)")
simple("takes a socket of the virtual machine's host", "socket.socket(40, socket.SOCK_STREAM, 0)")
simple("takes a socket by the call of x32", "call(0x40000000 | 41, 2, 1, 0)")
simple("sets up io_uring", "call('io_uring_setup', 4, ctypes.create_string_buffer(256))")

# Other processes
for number, who in enumerate(("parent", "host")):
    simple(f"signals the {who}", f"os.kill(OUTSIDE['{who}'], 0) is None")
    simple(f"signals a thread of the {who}", f"call('tgkill', OUTSIDE['{who}'], OUTSIDE['{who}'], 0)")
    simple(f"reads the memory of the {who}", f"open('/proc/%d/mem' % OUTSIDE['{who}'], 'rb')")
    simple(f"reads the environment of the {who}", f"open('/proc/%d/environ' % OUTSIDE['{who}']).read()")
    simple(f"reads the command line of the {who}", f"open('/proc/%d/cmdline' % OUTSIDE['{who}']).read()")
simple("signals the parent's process group", "os.killpg(os.getpgid(OUTSIDE['parent']), 0) is None")
simple("queues a signal for the parent", "call('rt_sigqueueinfo', OUTSIDE['parent'], 0, struct.pack('<iii', 0, 0, -1) + bytes(116))")
simple("signals the parent by a handle", "call('pidfd_send_signal', libc.syscall(434, OUTSIDE['parent'], 0), 0, None, 0)")
simple("takes a handle of the parent", "call('pidfd_open', OUTSIDE['parent'], 0)")
simple("takes a descriptor of the parent", "call('pidfd_getfd', libc.syscall(434, OUTSIDE['parent'], 0), 1, 0)")
simple("lists the parent's descriptors", "os.listdir('/proc/%d/fd' % OUTSIDE['parent'])")
simple("reads the parent's maps", "open('/proc/%d/maps' % OUTSIDE['parent']).read()")
simple("enters the parent's folder", "os.chdir('/proc/%d/cwd' % OUTSIDE['parent']) is None")
simple("traces the parent", "call('ptrace', 0x4206, OUTSIDE['parent'], 0, 0) and call('ptrace', 17, OUTSIDE['parent'], 0, 0)")
simple("compares itself with the parent", "call('kcmp', os.getpid(), OUTSIDE['parent'], 0, 0, 0)")
simple("sets the parent's priority", "os.setpriority(os.PRIO_PROCESS, OUTSIDE['parent'], os.getpriority(os.PRIO_PROCESS, 0)) is None")
simple("sets where the parent runs", "os.sched_setaffinity(OUTSIDE['parent'], os.sched_getaffinity(0)) is None")
simple("sets how the parent is scheduled", "os.sched_setscheduler(OUTSIDE['parent'], os.SCHED_OTHER, os.sched_param(0)) is None")
simple("sets the parent's priority of reading", "call('ioprio_set', 1, OUTSIDE['parent'], (2 << 13) | 4)")
simple("reads the parent's limits", "resource.prlimit(OUTSIDE['parent'], resource.RLIMIT_NOFILE)")
simple("moves the parent's pages", "call('migrate_pages', OUTSIDE['parent'], 0, None, None)")


simple("asks its channel for a handle of who is at the other end", "socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, 77, 4)")
simple("asks that messages bring a handle of who sent them", "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, 76, 1) is None")


def vectors(name):
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("<QQ", ctypes.addressof(buffer), 8)
    return call(name, OUTSIDE["parent"], local, 1, struct.pack("<QQ", OUTSIDE["address"], 8), 1, 0)


simple("reads the parent's memory by a call", "vectors('process_vm_readv')")


@escape("lets a pipe signal the parent")
def owned():
    ends = os.pipe()
    for command in (8, 8 | 1 << 32):
        if libc.fcntl(ends[0], ctypes.c_long(command), ctypes.c_long(OUTSIDE["parent"])) == 0 and fcntl.fcntl(ends[0], fcntl.F_GETOWN) == OUTSIDE["parent"]:
            return True
    for command in (72, ):
        return call(command, ends[0], ctypes.c_long(8 | 1 << 32), OUTSIDE["parent"])


@escape("finds a variable that it was not given")
def environment():
    own = open("/proc/self/environ").read() + repr(os.environ)
    return [each for each in OUTSIDE["variables"] if each in own]


@escape("has a descriptor of the parent's")
def descriptors():
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if target.startswith("/") and not target.startswith(("/memfd:", "/dev/null", "/dev/zero", "/dev/nvidia", "/proc", "/usr", OUTSIDE["own"])):
            found.append(target)
        if target.startswith("socket:") and int(number) != 3:
            found.append(target)
    return found


@escape("leaves its process group")
def session():
    child = os.fork()
    if child == 0:
        group = os.getpgid(0)
        try:
            os.setsid()
        finally:
            os._exit(7 if os.getpgid(0) != group else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@escape("leaves it by setpgid")
def group():
    child = os.fork()
    if child == 0:
        before = os.getpgid(0)
        try:
            os.setpgid(0, 0)
        finally:
            os._exit(7 if os.getpgid(0) != before else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


# Standing still
@escape("wakes itself by a timer when it is stopped")
def timer():
    event = struct.pack("<QiiQ", 0, signal.SIGCONT, 0, 0) + bytes(48)
    return call("timer_create", 1, event, ctypes.byref(ctypes.c_int()))


@escape("wakes itself by a change in a folder")
def notified():
    folder = os.open(OUTSIDE["own"], os.O_RDONLY)
    fcntl.fcntl(folder, 10, signal.SIGCONT)          # F_SETSIG
    return fcntl.fcntl(folder, 1026, 0x3f) == 0      # F_NOTIFY


@escape("wakes itself by a lease of a file")
def leased():
    file = os.open(OUTSIDE["own"] + "/leased%d" % os.getpid(), os.O_CREAT | os.O_RDWR)
    fcntl.fcntl(file, 10, signal.SIGCONT)
    return fcntl.fcntl(file, 1024, fcntl.F_WRLCK) == 0


@escape("shortens memory that it shares")
def shortened():
    for number in range(3, 20):
        if os.path.exists(f"/proc/self/fd/{number}") and "memfd:gate" in os.readlink(f"/proc/self/fd/{number}"):
            os.ftruncate(number, 0)
            return True


@escape("watches a folder of the user's")
def watched():
    watch = libc.inotify_init1(0)
    return watch >= 0 and libc.inotify_add_watch(watch, OUTSIDE["home"].encode(), 0xfff) >= 0


@escape("writes where another process of its kind starts")
def beside():
    folder = os.path.dirname(OUTSIDE["own"])
    return "cudal1-answer-" in folder and open(folder + "/planted.py", "w")


# The kernel
for call_name, arguments in [
    ("shmget", (0, 4096, 0o1600)), ("semget", (0, 1, 0o1600)), ("msgget", (0, 0o1600)), ("mq_open", (b"escaped", 0o102, 0o600, None)),
    ("add_key", (b"user", b"escaped", b"x", 1, -2)), ("keyctl", (0, -3, 1)), ("userfaultfd", (1,)), ("bpf", (5, bytes(128), 128)),
    ("perf_event_open", (struct.pack("<IIQ", 1, 128, 0) + bytes(112), 0, -1, -1, 0)), ("fanotify_init", (0, 0)), ("unshare", (0x10000000,)),
    ("unshare", (0x00020000,)), ("chroot", (b"/",)), ("mount", (b"none", b"/mnt", b"tmpfs", 0, None)), ("open_tree", (-100, b"/", 1)),
    ("fsopen", (b"tmpfs", 0)), ("clock_adjtime", (0, bytes(256))), ("personality", (0,)), ("memfd_secret", (0,)), ("iopl", (0,)),
    ("syslog", (10, None, 0)), ("setns", (0, 0)), ("sethostname", (b"", -1)), ("init_module", (None, 0, None)), ("quotactl", (0x80000100, None, 0, None)),
    ("settimeofday", (None, bytes(8))),
]:
    ESCAPES.append((f"is answered by {call_name} {arguments[0] if call_name == 'unshare' else ''}".strip(), lambda n=call_name, a=arguments: call(n, *a)))


@escape("clones itself into a namespace of users")
def namespace():
    child = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError("refused")
    os.waitpid(child, 0)
    return True


@escape("the same by clone3")
def namespace_by_clone3():
    child = libc.syscall(435, struct.pack("<11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError("refused")
    os.waitpid(child, 0)
    return True


def tried(only=lambda name: True):
    """The names of those that succeed."""
    found = []
    for name, function in ESCAPES:
        if not only(name):
            continue
        try:
            if function():
                found.append(name)
        except Exception:   # this way is shut
            pass
    return found
