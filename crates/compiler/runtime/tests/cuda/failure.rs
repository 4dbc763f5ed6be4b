//! Missing libraries and failures of devices: each has an error of its own.

use crate::kernel::{kernel, module};
use crate::{child, passes};
use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, Build, DataType, Device, Error, Stream, compile};

/// The test of this program that prints the error that it meets.
const ASKED: &str = "failure::needs_a_stand_in_with_something_missing";

/// Compiles for the device in `GBXCULE_TEST_DEVICE`, makes an array of 4 MiB and launches over it.
#[test]
#[ignore = "needs the stand-in: run by the tests of this file"]
fn needs_a_stand_in_with_something_missing() {
    let device = std::env::var("GBXCULE_TEST_DEVICE").unwrap_or("cuda:0".into());
    let tried = || -> Result<(), Error> {
        let compiled = compile(&module(), device.parse()?, Build::default())?;
        let stream = Stream::new(compiled.device())?;
        let array = stream.zeros(DataType::Scalar(Scalar::F32), &[1 << 20])?;
        let args = [(&array).into(), (&array).into()];
        compiled.kernel("add")?.launch(&[1 << 20], &args)?;
        stream.synchronize()
    };
    match tried() {
        Ok(()) => println!("said: nothing"),
        Err(error) => println!("said: {error}"),
    }
}

fn message_of_child(settings: &[(&str, &str)]) -> String {
    let cache = tempfile::tempdir().expect("a folder");
    let run = child(ASKED, cache.path(), settings);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    let line = text.lines().find_map(|line| line.split_once("said: "));
    line.expect("it says something").1.to_owned()
}

#[test]
fn each_thing_that_is_missing_is_named_with_what_to_do() {
    let cases: [(&[(&str, &str)], &str); 7] = [
        (&[], "nothing"),
        (
            &[("HOST_GPU_COUNT", "0")],
            "the NVIDIA driver sees no GPU: look at `nvidia-smi` and CUDA_VISIBLE_DEVICES, or use device `cpu`",
        ),
        (
            &[("GBXCULE_TEST_DEVICE", "cuda:3")],
            "there is no device `cuda:3`: the driver sees 1, the first is `cuda:0`",
        ),
        (
            &[("HOST_GPU_DRIVER", "12040")],
            "the NVIDIA driver supports CUDA 12.4, but NVRTC 13.0 makes code for CUDA 13: install a newer driver, or `pip install nvidia-cuda-nvrtc-cu12`",
        ),
        (
            &[("HOST_GPU_ARCH", "70")],
            "NVRTC 13.0 doesn't compile for `sm_70`, only for sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120: an older GPU needs an older one, a newer GPU a newer one",
        ),
        (
            &[("HOST_GPU_MEMORY", "3000000")],
            "`cuda:0` has too little memory: 4 MiB wanted, 3 MiB free; make fewer or smaller arrays, or end other programs on it (`nvidia-smi`)",
        ),
        (
            &[("GBXCULE_NVRTC", "/nowhere")],
            "GBXCULE_NVRTC is `/nowhere`, but there is no libnvrtc there: it names the library or a folder above it",
        ),
    ];
    for (settings, text) in cases {
        assert_eq!(message_of_child(settings), text, "{settings:?}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let text = message_of_child(&[("GBXCULE_CACHE", "/dev/null/cache")]);
    assert!(text.contains("GBXCULE_CACHE is `/dev/null/cache`"), "{text}");
}

/// Writes far outside of an array with an unchecked kernel.
#[test]
#[ignore = "needs the stand-in: its context does not outlive this"]
fn needs_a_stand_in_to_be_lost() {
    // SAFETY: none. The kernel reaches outside of its array, which the stand-in catches as a GPU
    // would.
    #[allow(unsafe_code, reason = "what happens then is the test")]
    let build = unsafe { Build::unchecked() };
    let compiled = compile(&module(), Device::Cuda(0), build).expect("compiles");
    let kernel = compiled.kernel("fault_index").expect("it is there");
    let stream = Stream::new(Device::Cuda(0)).expect("a device");
    let array = stream.zeros(DataType::Scalar(Scalar::F32), &[4]).expect("small");
    kernel.launch(&[1], &[(&array).into(), 100_000_000.into()]).expect("nothing yet");
    for _ in 0..2 {
        let error = stream.synchronize().expect_err("it reached outside");
        assert!(matches!(error, Error::ContextLost { device: Device::Cuda(0), .. }), "{error}");
        assert!(error.to_string().contains("an illegal memory access"), "{error}");
    }
    assert!(matches!(array.to_vec::<f32>(), Err(Error::ContextLost { .. })));
    let again = stream.zeros(DataType::Scalar(Scalar::F32), &[4]);
    assert!(matches!(again, Err(Error::ContextLost { .. })));
}

#[test]
fn a_context_that_is_lost_says_so_ever_after() {
    // Memory of a lost context is not freed, so the address sanitizer would call it leaked.
    passes("failure::needs_a_stand_in_to_be_lost", &[("ASAN_OPTIONS", "detect_leaks=0")]);
}

/// Leaks an array.
#[test]
#[ignore = "needs the stand-in: run by the tests of this file"]
fn needs_a_stand_in_that_notices_a_leak() {
    let stream = Stream::new(Device::Cuda(0)).expect("a device");
    std::mem::forget(stream.zeros(DataType::Scalar(Scalar::F32), &[4]).expect("small"));
}

/// Makes arrays over 1000 bytes of another library's memory. The last array has 1001.
#[test]
#[ignore = "needs the stand-in: run by the tests of this file"]
fn needs_a_stand_in_that_notices_a_wrong_range() {
    let stream = Stream::new(Device::Cuda(0)).expect("a device");
    let bytes = stream.from_slice(&[0u8; 1000]).expect("small");
    let address = bytes.device_pointer().expect("on a device");
    // SAFETY: the memory of the first two arrays exists and outlives them; the stand-in catches the
    // third.
    #[allow(unsafe_code, reason = "memory of another owner")]
    let external = |size: usize| -> Array {
        let of = DataType::Scalar(Scalar::U8);
        unsafe { stream.external(address, size, of, 0, &[size], &[1]) }.expect("aligned")
    };
    external(1000).fill(7u8).expect("bytes");
    assert_eq!(external(10).to_vec::<u8>().expect("bytes"), [7; 10]);
    println!("so far");
    _ = external(1001).to_vec::<u8>();
}

#[test]
fn the_stand_in_notices_leaks_and_ranges_that_are_not_there() {
    let cache = tempfile::tempdir().expect("a folder");
    let run = child("failure::needs_a_stand_in_that_notices_a_leak", cache.path(), &[]);
    assert_eq!(run.status.code(), Some(86), "{}", String::from_utf8_lossy(&run.stderr));
    let run = child("failure::needs_a_stand_in_that_notices_a_wrong_range", cache.path(), &[]);
    assert!(!run.status.success() && String::from_utf8_lossy(&run.stdout).contains("so far"));
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(text.contains("reach beyond the 1000 that begin"), "{text}");
}

/// Devices may differ in these properties.
#[test]
fn devices_without_pools_with_few_threads_or_beside_others_serve_too() {
    let test = "needs_cuda::arrays_may_go_while_work_on_them_is_under_way";
    passes(test, &[("HOST_GPU_POOLS", "0")]);
    passes("needs_cuda::atomics_of_many_threads_lose_nothing", &[("HOST_GPU_THREADS", "48")]);
    let text = message_of_child(&[("HOST_GPU_COUNT", "2"), ("GBXCULE_TEST_DEVICE", "cuda:1")]);
    assert_eq!(text, "nothing");
    // NVRTC has `sm_120` of this generation, whose code runs on 121 too.
    assert_eq!(message_of_child(&[("HOST_GPU_ARCH", "121")]), "nothing");
}

/// Works on one device while the thread's context is that of another one.
#[test]
#[ignore = "needs the stand-in with two devices: run by the test below"]
fn needs_a_stand_in_with_two_devices() {
    use cudarc::driver::sys;
    use std::ptr::null_mut;
    let compiled = compile(&module(), Device::Cuda(1), Build::default()).expect("compiles");
    let (mut other, mut current) = (null_mut(), null_mut());
    // SAFETY: the pointers lead to places for contexts, and the device exists.
    #[allow(unsafe_code, reason = "what another library does")]
    unsafe {
        assert_eq!(sys::cuDevicePrimaryCtxRetain(&raw mut other, 0), sys::CUresult::CUDA_SUCCESS);
        assert_eq!(sys::cuCtxSetCurrent(other), sys::CUresult::CUDA_SUCCESS);
    }
    let stream = Stream::new(Device::Cuda(1)).expect("a device");
    let array = stream.from_slice(&[1f32; 100]).expect("small");
    let args = [(&array).into(), (&array).into()];
    compiled.kernel("add").expect("it is there").launch(&[100], &args).expect("it fits");
    assert_eq!(array.to_vec::<f32>().expect("no fault"), [2f32; 100]);
    let wrong = stream.zeros(DataType::Scalar(Scalar::F32), &[1 << 40]);
    assert!(matches!(wrong, Err(Error::DeviceMemory { .. })));
    drop((array, stream, compiled));
    // SAFETY: the pointer leads to a place for a context.
    #[allow(unsafe_code, reason = "what another library sees")]
    let status = unsafe { sys::cuCtxGetCurrent(&raw mut current) };
    assert_eq!((status, current), (sys::CUresult::CUDA_SUCCESS, other));
}

#[test]
fn a_thread_keeps_the_context_that_it_had() {
    passes("failure::needs_a_stand_in_with_two_devices", &[("HOST_GPU_COUNT", "2")]);
}

#[test]
fn output_of_a_device_cannot_be_redirected() {
    passes("failure::needs_a_stand_in_that_prints", &[]);
}

#[test]
#[ignore = "needs the stand-in: run by the tests of this file"]
fn needs_a_stand_in_that_prints() {
    let kernel = kernel(Device::Cuda(0), "alone");
    let text = gbxcule_runtime::Output::Text(std::sync::Arc::default());
    let error = kernel.launch_with_output(&[1], &[0.into()], text).expect_err("refused");
    assert!(matches!(error, Error::Printing { .. }), "{error}");
    assert!(gbxcule_runtime::DirectKernel::new(kernel).is_err());
}
