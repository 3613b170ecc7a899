/*===- heddle.h - the C interface of the Heddle runtime ----------------------===*
 *
 * Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Loads packages (.hdl) and launches their kernels. C11; usable from C++.
 *
 * Errors. Every call that can fail returns a heddle_status: NULL is success, else
 * an object that the caller owns and destroys. No call throws or aborts. When a call
 * fails its results are left untouched, unless it says otherwise.
 *
 * Ownership. What a `create`, `open` or `load` call returns belongs to the caller, who
 * passes it to the `destroy`, `close` or `unload` call of its type. NULL is accepted
 * there. Objects made from a device keep what they need of it alive, so devices,
 * modules, streams and events may be destroyed in any order. A kernel belongs to its
 * module and dies with it. Strings returned belong to the object asked.
 *
 * Threading. Functions may be called from any thread; a device, a module and its
 * kernels may be used by several threads at once. One status, event or stream is for
 * one thread at a time. Destroying an object while another thread uses it is an error
 * of the caller that is not detected.
 *
 * Units. Sizes of memory are bytes; shapes and strides are elements, outermost
 * dimension first.
 *
 *===----------------------------------------------------------------------===*/
#ifndef HEDDLE_RT_HEDDLE_H
#define HEDDLE_RT_HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#if defined(HEDDLE_RT_BUILD) && defined(__GNUC__)
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------ */

typedef struct heddle_status_object *heddle_status;

typedef enum heddle_code {
  HEDDLE_OK = 0,
  HEDDLE_INVALID_ARGUMENT = 1,   /* a NULL, a bad name, a wrong count */
  HEDDLE_SHAPE_MISMATCH = 2,     /* type, rank, size or stride differs from the manifest or between arguments */
  HEDDLE_MISALIGNED = 3,         /* an address is not a multiple of what the kernel needs */
  HEDDLE_OUT_OF_RANGE = 4,       /* a size over a limit of the kernel or the device */
  HEDDLE_NO_VARIANT = 5,         /* no compiled form of the kernel takes these arguments */
  HEDDLE_NO_IMAGE = 6,           /* the package holds no code for this device */
  HEDDLE_INVALID_PACKAGE = 7,    /* not a package, damaged, or of a newer format */
  HEDDLE_NOT_FOUND = 8,          /* no such kernel, device or file */
  HEDDLE_UNAVAILABLE = 9,        /* no driver, a driver that is too old, no such backend */
  HEDDLE_OUT_OF_MEMORY = 10,     /* device or host memory */
  HEDDLE_IO_ERROR = 11,          /* reading a file failed */
  HEDDLE_DEVICE_ERROR = 12,      /* the driver refused a call */
  HEDDLE_DEVICE_LOST = 13,       /* earlier work failed on the device; it cannot be used by this process any more */
  HEDDLE_INTERNAL = 14,          /* a defect of the runtime */
  HEDDLE_COMM_FAILED = 15,       /* another rank did not come in time, failed, or gave up */
  HEDDLE_COMM_MISMATCH = 16      /* ranks called different things, or are set up differently */
} heddle_code;

/* All accept NULL (success). The strings live as long as the status. */
HEDDLE_API heddle_code heddle_status_code(heddle_status status);
/* What went wrong and why: lower case, no final period. "" for NULL. */
HEDDLE_API const char *heddle_status_message(heddle_status status);
/* "File.cpp:line" in the runtime where the error was found. "" for NULL. */
HEDDLE_API const char *heddle_status_location(heddle_status status);
/* The name of the kernel argument at fault, else "". */
HEDDLE_API const char *heddle_status_argument(heddle_status status);
HEDDLE_API void heddle_status_destroy(heddle_status status);
/* "invalid argument" and so on; static. */
HEDDLE_API const char *heddle_code_name(heddle_code code);
/* The runtime's version, "0.1.0"; static. */
HEDDLE_API const char *heddle_version(void);

/* ---- Devices ------------------------------------------------------------------- */

typedef struct heddle_device_object *heddle_device;

typedef struct heddle_device_info {
  char name[32];         /* what heddle_device_open takes: "cuda:0", "emulator:<target>" */
  char description[96];  /* e.g. "NVIDIA H200" */
  int32_t major, minor;  /* compute capability */
  int32_t multiprocessors;
  int32_t emulated;      /* 1 when kernels run on the CPU */
  uint64_t memory_bytes;
  uint64_t shared_bytes; /* shared memory that one block can have */
  uint64_t l2_bytes;
  int32_t driver_version; /* 13000 for 13.0; 0 when there is no driver */
  int32_t reserved;
} heddle_device_info;

/* Lists devices of every backend. Writes at most `capacity` entries to `infos` (may be
 * NULL when 0) and the number there are to `count`. A backend without devices (no
 * driver, no GPU) adds none; heddle_device_open then tells why. */
HEDDLE_API heddle_status heddle_device_list(heddle_device_info *infos, size_t capacity, size_t *count);
/* Opens "cuda:<index>" ("cuda" is "cuda:0") or "emulator:<target>". On cuda this retains
 * the device's primary context, the one that the CUDA runtime uses too. */
HEDDLE_API heddle_status heddle_device_open(const char *name, heddle_device *device);
HEDDLE_API void heddle_device_close(heddle_device device);
HEDDLE_API heddle_status heddle_device_properties(heddle_device device, heddle_device_info *info);
/* Free and total device memory in bytes, now. */
HEDDLE_API heddle_status heddle_device_memory(heddle_device device, uint64_t *free_bytes, uint64_t *total_bytes);
/* Waits for everything submitted to the device and reports what failed of it. */
HEDDLE_API heddle_status heddle_device_sync(heddle_device device);
/* Reports an error of earlier asynchronous work without waiting. Not for use while a
 * stream of this thread is being captured. */
HEDDLE_API heddle_status heddle_device_check(heddle_device device);

/* ---- Memory -------------------------------------------------------------------- */

/* A CUstream (equal to cudaStream_t) of the device's primary context, or NULL for its
 * default stream. */
typedef void *heddle_stream;

/* Device memory, at least 256-byte aligned; 0 bytes give NULL. When memory is short the
 * message tells the bytes needed and free. */
HEDDLE_API heddle_status heddle_alloc(heddle_device device, uint64_t bytes, void **pointer);
HEDDLE_API heddle_status heddle_free(heddle_device device, void *pointer);
/* Copies between any of host and device memory, ordered in the stream. Host memory must
 * stay valid until the stream has passed the copy. */
HEDDLE_API heddle_status heddle_copy(heddle_device device, void *to, const void *from, uint64_t bytes,
                                     heddle_stream stream);
/* Sets every byte of device memory to `value`, ordered in the stream. */
HEDDLE_API heddle_status heddle_fill(heddle_device device, void *pointer, uint8_t value, uint64_t bytes,
                                     heddle_stream stream);

/* ---- Streams and events ---------------------------------------------------------- */

/* Streams made here are non-blocking with respect to the default stream. */
HEDDLE_API heddle_status heddle_stream_create(heddle_device device, heddle_stream *stream);
HEDDLE_API heddle_status heddle_stream_destroy(heddle_device device, heddle_stream stream);
/* Waits for the stream and reports what failed on it. */
HEDDLE_API heddle_status heddle_stream_sync(heddle_device device, heddle_stream stream);

typedef struct heddle_event_object *heddle_event;

HEDDLE_API heddle_status heddle_event_create(heddle_device device, heddle_event *event);
HEDDLE_API void heddle_event_destroy(heddle_event event);
HEDDLE_API heddle_status heddle_event_record(heddle_event event, heddle_stream stream);
HEDDLE_API heddle_status heddle_event_sync(heddle_event event);
/* Milliseconds between two recorded events of one device; waits for both. */
HEDDLE_API heddle_status heddle_event_elapsed(heddle_event start, heddle_event stop, float *milliseconds);

/* ---- Modules and kernels ----------------------------------------------------------- */

typedef struct heddle_module_object *heddle_module;
typedef struct heddle_kernel_object *heddle_kernel;

/* Checks a package completely, then loads for this device, for each kernel, the best
 * code there is: a cubin of exactly this GPU, else one of its family, else PTX through
 * the driver. Fails with HEDDLE_NO_IMAGE when there is none for any kernel. The bytes
 * are copied. */
HEDDLE_API heddle_status heddle_module_load(heddle_device device, const void *package, size_t bytes,
                                            heddle_module *module);
HEDDLE_API heddle_status heddle_module_load_file(heddle_device device, const char *path, heddle_module *module);
HEDDLE_API void heddle_module_unload(heddle_module module);

HEDDLE_API size_t heddle_module_kernel_count(heddle_module module);
/* NULL when `index` is out of range. */
HEDDLE_API const char *heddle_module_kernel_name(heddle_module module, size_t index);
/* Finds a kernel and loads its code; `name` NULL means the only one of the package.
 * Repeated calls give the same handle, which lives until the module is unloaded. */
HEDDLE_API heddle_status heddle_module_kernel(heddle_module module, const char *name, heddle_kernel *kernel);

typedef enum heddle_dtype {
  HEDDLE_F32 = 0, HEDDLE_F16 = 1, HEDDLE_BF16 = 2, HEDDLE_F8E4M3 = 3, HEDDLE_F8E5M2 = 4,
  HEDDLE_I8 = 5, HEDDLE_I32 = 6, HEDDLE_I64 = 7, HEDDLE_F64 = 8
} heddle_dtype;

typedef enum heddle_arg_kind { HEDDLE_TENSOR = 0, HEDDLE_SCALAR = 1 } heddle_arg_kind;

enum { HEDDLE_MAX_RANK = 8 };

/* What a kernel expects of one argument. */
typedef struct heddle_arg_info {
  const char *name;                  /* lives as long as the module */
  heddle_arg_kind kind;
  heddle_dtype dtype;
  int32_t output;                    /* 1 when the kernel writes it */
  int32_t rank;
  int64_t shape[HEDDLE_MAX_RANK];    /* -1: known only at run time */
  const char *symbols[HEDDLE_MAX_RANK]; /* the name of a run-time size, else NULL */
} heddle_arg_info;

HEDDLE_API const char *heddle_kernel_name(heddle_kernel kernel);
HEDDLE_API size_t heddle_kernel_arg_count(heddle_kernel kernel);
HEDDLE_API heddle_status heddle_kernel_arg(heddle_kernel kernel, size_t index, heddle_arg_info *info);
/* How many compiled forms ("variants") there are for this device. They are numbered from 1
 * in order of preference. */
HEDDLE_API size_t heddle_kernel_variant_count(heddle_kernel kernel);
/* One line about a form: target, cubin or ptx, schedule. NULL when out of range. */
HEDDLE_API const char *heddle_kernel_variant_description(heddle_kernel kernel, size_t variant);

/* ---- Communicators ---------------------------------------------------------------
 *
 * A communicator joins ranks, numbered from 0, whose kernels address each other's memory.
 * Each rank has a symmetric heap: what is allocated there lies at the same offset on every
 * rank. A handle is one rank's. "Collective" calls (allocations, frees, launches that name
 * the communicator) must come in the same order, with the same sizes, on every rank; the
 * first call that differs fails with HEDDLE_COMM_MISMATCH. They do not wait for the other
 * ranks. docs/communication.md tells more. */

typedef struct heddle_comm_object *heddle_comm;

/* Zero-initialise, then set what is needed. */
typedef struct heddle_comm_options {
  uint64_t heap_bytes;   /* of each rank, for heddle_comm_alloc; 0: 256 MiB (emulated: 32 MiB) */
  uint64_t signal_bytes; /* of each rank, for the counters of kernels, beside the heap; 0: 4 MiB */
  uint32_t timeout_ms;   /* the longest that a kernel waits for another rank at once; 0: 30000 */
  uint32_t rendezvous_ms; /* until all ranks must have come; 0: 60000 */
  const char *transport; /* how memory reaches other ranks; NULL or "auto": the first that works */
  /* What follows is for heddle_comm_create. */
  int32_t rank, world;   /* world 0: the environment tells both */
  const char *address;   /* where rank 0 listens; NULL: MASTER_ADDR, else 127.0.0.1 */
  const char *secret;    /* the same on every rank; NULL: HEDDLE_SECRET; empty: loopback only */
  uint16_t port;         /* 0: HEDDLE_PORT, else MASTER_PORT + 1, else 29501 */
  uint16_t reserved[3];
} heddle_comm_options;

typedef struct heddle_comm_info {
  int32_t rank, world;
  void *heap;            /* where heddle_comm_alloc takes from, on this rank */
  uint64_t heap_bytes, heap_used;
  uint32_t timeout_ms;
  uint32_t reserved;
  char transport[256];   /* how the ranks reach each other, for people */
} heddle_comm_info;

/* All ranks in this process: rank i runs on devices[i]. Several ranks may share a GPU, each
 * with a stream of its own; emulated devices are one a rank, of one group. Fails with
 * HEDDLE_UNAVAILABLE, and why, when no transport reaches all of them. `options`
 * may be NULL. Writes `count` handles to `comms`. */
HEDDLE_API heddle_status heddle_comm_create_local(const heddle_device *devices, size_t count,
                                                  const heddle_comm_options *options, heddle_comm *comms);
/* This process is one rank, on `device`; the others are other processes of this machine. Who it
 * is comes from the options, else from a launcher (torchrun, mpirun, srun). Collective: waits for
 * all ranks, at most rendezvous_ms. A rank that is missing, differs in version or options, or
 * fails gives a status on all ranks that names it. `options` may be NULL. */
HEDDLE_API heddle_status heddle_comm_create(heddle_device device, const heddle_comm_options *options,
                                            heddle_comm *comm);
/* Who heddle_comm_create would take this process for. `options` may be NULL. */
HEDDLE_API heddle_status heddle_comm_find_rank(const heddle_comm_options *options, int32_t *rank, int32_t *world);
/* The transports there are, the fastest first; NULL past the last. */
HEDDLE_API const char *heddle_transport_name(size_t index);
HEDDLE_API const char *heddle_transport_description(size_t index);
/* Whether kernels on `from` reach memory of `to` by a transport; the status says why not. */
HEDDLE_API heddle_status heddle_transport_reaches(const char *transport, heddle_device from, heddle_device to);
/* Kernels that use it must have ended, on every rank. Its memory goes with the last rank's
 * handle of this process. */
HEDDLE_API void heddle_comm_destroy(heddle_comm comm);
HEDDLE_API heddle_status heddle_comm_properties(heddle_comm comm, heddle_comm_info *info);
/* Symmetric memory, 256-byte aligned, zeroed at first; 0 bytes give NULL. Collective. When
 * the heap is too small the message tells how large it must be. */
HEDDLE_API heddle_status heddle_comm_alloc(heddle_comm comm, uint64_t bytes, void **pointer);
/* Collective. No kernel of any rank may still use the memory. NULL is no call. */
HEDDLE_API heddle_status heddle_comm_free(heddle_comm comm, void *pointer);
/* The address, on this rank's device, of the same symmetric memory on another rank. */
HEDDLE_API heddle_status heddle_comm_peer(heddle_comm comm, const void *pointer, int32_t rank, void **there);
/* Waits until every rank has called it, at most timeout_ms. Collective: each rank from a thread or a
 * process of its own. For instance before memory is freed that kernels of other ranks use. */
HEDDLE_API heddle_status heddle_comm_barrier(heddle_comm comm);
/* Whether anything has failed: a kernel here whose wait ran into its deadline (HEDDLE_COMM_FAILED
 * names rank, kernel, role, channel, peer and counters), or a communicator that some rank gave up.
 * Does not wait: call it after a sync. A failed communicator stays so; its kernels end by themselves,
 * then it is destroyed and, with the ranks that are left, made anew. A failure found here stops the
 * kernels of all ranks. */
HEDDLE_API heddle_status heddle_comm_check(heddle_comm comm);
/* Gives the communicator up: kernels of all ranks that wait for each other end, and later
 * calls on every rank tell `reason` (may be NULL). */
HEDDLE_API heddle_status heddle_comm_abort(heddle_comm comm, const char *reason);

/* ---- Launch ---------------------------------------------------------------------- */

/* One argument of a launch. A tensor states what is in memory; the runtime compares it
 * with the manifest. Zero-initialise, then set what is needed. */
typedef struct heddle_arg {
  heddle_arg_kind kind;
  heddle_dtype dtype;
  void *data;             /* device memory (tensors) */
  int32_t rank;
  const int64_t *shape;   /* `rank` sizes, elements */
  const int64_t *strides; /* `rank` strides, elements; NULL: contiguous, last dimension fastest */
  double scalar;          /* the value (scalars) */
} heddle_arg;

typedef struct heddle_launch_options {
  heddle_stream stream;
  int32_t variant;          /* 0: the first that fits; else only the form of that number */
  int32_t multiprocessors;  /* how many the launch may use; 0: all */
  int32_t check_pointers;   /* 1: ask the driver whether each tensor lies inside an allocation */
  int32_t in_order;         /* 1: begin only when all that is ahead in the stream is over */
  heddle_comm comm;         /* for kernels that talk to other ranks (collective); else NULL */
} heddle_launch_options;

/* Launches a kernel, ordered in the stream, and returns without waiting. Types, ranks,
 * static sizes, sizes that arguments share, strides, addresses and the manifest's
 * limits are checked first; then the first form whose constraints hold runs. Sizes of 0
 * in an output launch nothing. Does not synchronise and allocates no device memory, but for
 * kernels that split K: their first launch in a stream makes a workspace, which later launches
 * of the module's kernels in that stream share (a larger one takes its place where it has to); a
 * capture gets its own. Launches in different streams thus never share one. A stream must
 * have finished before another is made in its place and used with the same module. So a launch
 * it may be captured into a CUDA graph (with check_pointers too). The arrays are not
 * kept. `options` may be NULL. Kernels that wait by themselves for what is ahead of them
 * in the stream are launched so that they may begin while that ends (programmatic
 * dependent launch, sm_90 and newer); what they see and write is the same. An error on the device surfaces at a later sync or check. */
HEDDLE_API heddle_status heddle_launch(heddle_kernel kernel, const heddle_arg *args, size_t count,
                                       const heddle_launch_options *options);
/* The checks and the choice of a launch without the launch. `variant` (may be NULL) gets
 * the number of the form, or 0 when an output is empty. */
HEDDLE_API heddle_status heddle_launch_check(heddle_kernel kernel, const heddle_arg *args, size_t count,
                                             const heddle_launch_options *options, int32_t *variant);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_RT_HEDDLE_H */
