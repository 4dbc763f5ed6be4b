//! Tests that every device has to pass in the same way.

use crate::kernel::kernel;
use gbxcule_ir::Scalar;
use gbxcule_runtime::{Argument, Array, DataType, Device, Element, Error, Fault, Stream, Traffic};

fn stream(device: Device) -> Stream {
    Stream::new(device).unwrap_or_else(|error| panic!("{error}"))
}

fn zeros<T: Element>(stream: &Stream, shape: &[usize]) -> Array {
    stream.zeros(T::data_type(), shape).expect("small")
}

fn read<T: Element>(array: &Array) -> Vec<T> {
    array.to_vec().unwrap_or_else(|error| panic!("{error}"))
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|number| number as f32).collect()
}

pub(crate) fn a_launch_runs_each_point_of_its_grid_once(device: Device) {
    let (kernel, stream) = (kernel(device, "count"), stream(device));
    for shape in [[1, 1, 1], [3, 5, 7], [40, 3, 101]] {
        let array = zeros::<i32>(&stream, &shape);
        kernel.launch(&shape, &[(&array).into()]).expect("runs");
        assert!(read::<i32>(&array).iter().all(|&count| count == 1), "{shape:?}");
        // The kernel asks for three dimensions, so each index runs once for each index of a fourth.
        kernel.launch(&[shape[0], shape[1], shape[2], 3], &[(&array).into()]).expect("runs");
        assert!(read::<i32>(&array).iter().all(|&count| count == 4), "{shape:?}");
        kernel.launch(&[0, 3, 3], &[(&array).into()]).expect("nothing to run");
    }
}

pub(crate) fn atomics_of_many_threads_lose_nothing(device: Device) {
    let (kernel, stream) = (kernel(device, "sums"), stream(device));
    let a = zeros::<f32>(&stream, &[50, 40]);
    a.write(&numbers(2000)).expect("2000 elements");
    let (rows, all) = (zeros::<f32>(&stream, &[50]), zeros::<i32>(&stream, &[2]));
    kernel.launch(&[50, 40], &[(&a).into(), (&rows).into(), (&all).into()]).expect("runs");
    let expected: Vec<f32> = numbers(2000).chunks(40).map(|row| row.iter().sum()).collect();
    assert_eq!(read::<f32>(&rows), expected);
    assert_eq!(read::<i32>(&all), [1999, 2000]);
}

pub(crate) fn structs_vectors_and_scalars_arrive_as_they_were_given(device: Device) {
    let (kernel, stream) = (kernel(device, "move"), stream(device));
    let place = stream.from_slice(&[[0.0f32, 1.0, 2.0], [3.0, 4.0, 5.0]]).expect("small");
    let fields = [("mass", 3u8.into()), ("place", (&place).into()), ("factor", 0.5f64.into())];
    let body = Argument::Struct(fields.map(|(name, value)| (name.into(), value)).into());
    kernel.launch(&[2], &[body, [1.0f32, 2.0, 4.0].into(), 2.into()]).expect("runs");
    assert_eq!(read::<[f32; 3]>(&place), [[3.0, 7.0, 14.0], [6.0, 10.0, 17.0]]);
}

pub(crate) fn views_are_read_and_written_where_they_lie(device: Device) {
    let (kernel, stream) = (kernel(device, "add"), stream(device));
    let matrix = zeros::<f32>(&stream, &[30, 20]);
    matrix.write(&numbers(600)).expect("600 elements");
    let column = matrix.index_dim(1, 3).expect("a column");
    let back = matrix.index_dim(0, 2).and_then(|row| row.slice(0, 1..20, -2)).expect("every other");
    assert_eq!(read::<f32>(&column)[..3], [3.0, 23.0, 43.0]);
    assert_eq!(read::<f32>(&back)[..3], [59.0, 57.0, 55.0]);
    let turned = matrix.transposed();
    assert_eq!(read::<f32>(&turned)[..3], [0.0, 20.0, 40.0]);
    let part = matrix.slice(0, 1..30, 3).and_then(|rows| rows.slice(1, 0..20, 7)).expect("a part");
    assert_eq!(read::<f32>(&part)[..4], [20.0, 27.0, 34.0, 80.0]);
    kernel.launch(&[10], &[(&back).into(), (&column).into()]).expect("runs");
    assert_eq!(read::<f32>(&matrix.index_dim(1, 3).expect("a column"))[..3], [62.0, 80.0, 98.0]);
    column.fill(-1.0f32).expect("f32");
    back.write(&numbers(10)).expect("10 elements");
    part.fill(0.25f32).expect("f32");
    turned.index_dim(0, 19).and_then(|column| column.write(&numbers(30))).expect("30 elements");
    let mut expected = numbers(600);
    for row in 0..30 {
        expected[20 * row + 3] = -1.0;
    }
    for (index, number) in numbers(10).into_iter().enumerate() {
        expected[40 + 19 - 2 * index] = number;
    }
    for row in (1..30).step_by(3) {
        (0..20).step_by(7).for_each(|column| expected[20 * row + column] = 0.25);
    }
    for row in 0..30 {
        expected[20 * row + 19] = row as f32;
    }
    assert_eq!(read::<f32>(&matrix), expected);
    // The elements overlap: the one written last decides.
    let bytes = stream.from_slice(&[0u8; 16]).expect("small");
    let windows = bytes.view_as(f32::data_type(), 0, &[3, 2], &[4, 4]).expect("inside");
    windows.write(&numbers(6)).expect("6 elements");
    assert_eq!(read::<f32>(&windows), [0.0, 2.0, 2.0, 4.0, 4.0, 5.0]);
    let doubles = bytes.view_as(f64::data_type(), 0, &[2], &[8]).expect("inside");
    doubles.fill(1.5f64).expect("f64");
    assert_eq!(read::<f64>(&doubles), [1.5, 1.5]);
    let pairs = bytes.view_as(DataType::Vector(3, Scalar::U8), 1, &[3], &[5]);
    pairs.expect("inside").fill([7u8, 8, 7]).expect("bytes");
    assert_eq!(read::<u8>(&bytes)[..5], [0, 7, 8, 7, 0]);
}

pub(crate) fn only_what_is_asked_for_is_copied(device: Device) {
    let stream = stream(device);
    let large = zeros::<f32>(&stream, &[1000, 250]);
    assert_eq!(stream.traffic(), Traffic::default());
    let row = large.index_dim(0, 999).expect("a row");
    row.write(&numbers(250)).expect("250 elements");
    large.fill(2.0f32).expect("f32");
    assert_eq!(stream.traffic(), Traffic { uploaded: 1000, downloaded: 0, waits: 0 });
    let cell = row.slice(0, 3..4, 1).expect("a cell");
    assert_eq!(read::<f32>(&cell), [2.0]);
    assert_eq!(read::<f32>(&large.index_dim(1, 7).expect("a column")), vec![2.0; 1000]);
    assert_eq!(stream.traffic(), Traffic { uploaded: 1000, downloaded: 4004, waits: 2 });
    let part = large.slice(0, 10..20, 1).and_then(|rows| rows.slice(1, 5..8, 1)).expect("a part");
    assert_eq!(read::<f32>(&part).len(), 30);
    assert_eq!(stream.traffic().downloaded, 4124);
    stream.synchronize().expect("nothing went wrong");
    assert_eq!(stream.traffic().waits, 4);
}

pub(crate) fn launches_and_copies_happen_in_the_order_in_which_they_were_asked_for(device: Device) {
    let (kernel, stream) = (kernel(device, "add"), stream(device));
    let (a, sum) = (zeros::<f32>(&stream, &[1000]), zeros::<f32>(&stream, &[1000]));
    let mut elements = vec![0.0f32; 1000];
    for round in 0..100 {
        // Each round uses the same memory of the host and of the device.
        elements.fill(round as f32);
        a.write(&elements).expect("1000 elements");
        kernel.launch(&[1000], &[(&a).into(), (&sum).into()]).expect("runs");
        elements.fill(-1.0);
        a.fill(f32::NAN).expect("f32");
    }
    assert_eq!(stream.traffic().waits, 0);
    assert_eq!(read::<f32>(&sum), vec![4950.0; 1000]);
}

pub(crate) fn large_arrays_arrive_whole(device: Device) {
    let stream = stream(device);
    // These arrays together are larger than a stream's pinned memory.
    let elements: Vec<u32> = (0..6 << 20).collect();
    let arrays: Vec<Array> =
        (0..4).map(|_| stream.from_slice(&elements).expect("24 MiB")).collect();
    for array in &arrays {
        assert!(read::<u32>(array) == elements);
    }
    let rows = stream.zeros(u32::data_type(), &[3, 3 << 20]).expect("36 MiB");
    let wide = rows.slice(1, 0..2 << 20, 1).expect("a part");
    assert!(wide.write(&elements).is_ok() && read::<u32>(&wide) == elements);
    assert_eq!(
        rows.index_dim(1, (2 << 20) - 1).map(|column| read::<u32>(&column)[1]),
        Ok((4 << 20) - 1)
    );
    assert_eq!(rows.index_dim(1, 2 << 20).map(|column| read::<u32>(&column)), Ok(vec![0; 3]));
}

pub(crate) fn arrays_may_go_while_work_on_them_is_under_way(device: Device) {
    let (kernel, stream) = (kernel(device, "add"), stream(device));
    let sum = zeros::<f32>(&stream, &[64]);
    for _ in 0..50 {
        let a = stream.from_slice(&[1.0f32; 64]).expect("small");
        let part = a.slice(0, 0..64, 1).expect("all of it");
        drop(a);
        kernel.launch(&[64], &[part.into(), (&sum).into()]).expect("runs");
    }
    drop(kernel);
    let free = stream.free_bytes().expect("the device answers");
    assert_eq!(free.is_none(), device == Device::Cpu);
    assert_eq!(read::<f32>(&sum), [50.0; 64]);
    drop(stream);
    assert_eq!(read::<f32>(&sum), [50.0; 64]);
    let beside = sum.with_gradient().expect("small");
    assert_eq!(read::<f32>(&beside.gradient().expect("it has one")), [0.0; 64]);
}

/// Returns the fault that ends a launch, from the launch or from a later call.
fn fault(device: Device, name: &str, grid: &[usize], n: i32) -> Fault {
    let (kernel, stream) = (kernel(device, name), stream(device));
    let array = zeros::<f32>(&stream, &[10]);
    let launched = kernel.launch(grid, &[(&array).into(), n.into()]);
    match launched.and_then(|()| stream.synchronize()) {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("no fault: {other:?}"),
    }
}

pub(crate) fn faults_read_the_same(device: Device) {
    let cases: [(&str, &[usize], i32, &str); 6] = [
        (
            "fault_index",
            &[8],
            3,
            "kernel `fault_index` stopped at thread (7): index 10 where there are 10 elements",
        ),
        (
            "fault_index",
            &[2, 3],
            -11,
            "kernel `fault_index` stopped at thread (0): index -11 where there are 10 elements",
        ),
        (
            "fault_division",
            &[1, 6],
            4,
            "kernel `fault_division` stopped at thread (0, 4): an integer divided by zero, in `quotient`",
        ),
        (
            "fault_assert",
            &[5],
            4,
            "kernel `fault_assert` stopped at thread (4): assertion failed: below n",
        ),
        (
            "fault_view",
            &[1],
            7,
            "kernel `fault_view` stopped at thread (0): a view reaches index 10 where there are 10 elements",
        ),
        (
            "fault_division",
            &[2, 2, 2],
            1,
            "kernel `fault_division` stopped at thread (0, 1): an integer divided by zero, in `quotient`",
        ),
    ];
    for (name, grid, n, text) in cases {
        let found = fault(device, name, grid, n);
        let expected = fault(Device::Cpu, name, grid, n);
        assert_eq!(Error::Fault(Box::new(expected.clone())).to_string(), text);
        // On devices a fault's span is a line of CUDA text, which is a statement; on the CPU it is
        // the operation in it.
        let (within, span) = (found.span, expected.span);
        assert!(
            within.start <= span.start && span.end <= within.end,
            "{name}: {within:?} {span:?}"
        );
        // Of several threads that fault any one may be reported.
        assert_eq!(Fault { span, thread: expected.thread.clone(), ..found }, expected);
    }
    assert_eq!(fault(device, "fault_index", &[8], 3).thread, [7]);
}

pub(crate) fn a_fault_is_reported_once_and_in_its_own_stream(device: Device) {
    let [one, other] = [stream(device), stream(device)];
    let [bad, good] = [kernel(device, "fault_index"), kernel(device, "add")];
    let array = zeros::<f32>(&one, &[10]);
    let elsewhere = other.from_slice(&[1.0f32; 10]).expect("small");
    let launch = |n: i32| bad.launch(&[10], &[(&array).into(), n.into()]);
    for _ in 0..3 {
        // On the CPU the launch returns the fault itself.
        let printed =
            launch(0).and_then(|()| launch(5)).and_then(|()| array.to_vec::<f32>().map(|_| ()));
        let Err(Error::Fault(fault)) = printed else { panic!("no fault: {printed:?}") };
        assert_eq!((fault.kernel.as_str(), fault.code.name()), ("fault_index", "index"));
        let twice = [(&elsewhere).into(), (&elsewhere).into()];
        good.launch(&[10], &twice).expect("runs");
        bad.launch(&[10], &[(&elsewhere).into(), 0.into()]).expect("runs");
        other.synchronize().expect("nothing wrong there");
        one.synchronize().expect("it was reported");
        assert_eq!(read::<f32>(&array), [1.0; 10]);
    }
    assert_eq!(read::<f32>(&elsewhere), [1.0; 10]);
}

pub(crate) fn a_fault_among_many_launches_is_that_of_its_kernel_and_grid(device: Device) {
    let stream = stream(device);
    let array = zeros::<f32>(&stream, &[10]);
    let launch = |name: &str, grid: &[usize], n: i32| {
        kernel(device, name).launch(grid, &[(&array).into(), n.into()])
    };
    let first = |said: Result<(), Error>| match said.and_then(|()| stream.synchronize()) {
        Err(Error::Fault(fault)) => fault.to_string(),
        other => panic!("no fault: {other:?}"),
    };
    let other_kernel = launch("fault_assert", &[8], 100)
        .and_then(|()| launch("fault_index", &[8], 3))
        .and_then(|()| launch("fault_assert", &[8], 7));
    assert_eq!(
        first(other_kernel),
        "kernel `fault_index` stopped at thread (7): index 10 where there are 10 elements"
    );
    // Thread 4 of 6, in rows of 3 threads.
    let other_grid = launch("fault_division", &[1, 6], 100)
        .and_then(|()| launch("fault_division", &[2, 3], 100))
        .and_then(|()| launch("fault_one_division", &[2, 3], 4))
        .and_then(|()| launch("fault_one_division", &[6, 1], 4));
    assert_eq!(
        first(other_grid),
        "kernel `fault_one_division` stopped at thread (1, 1): an integer divided by zero, in `quotient`"
    );
    let other_grid = launch("fault_one_division", &[3, 1], 4)
        .and_then(|()| launch("fault_one_division", &[2, 3], 4));
    assert!(first(other_grid).contains("stopped at thread (1, 1)"));
}

pub(crate) fn a_kernel_without_arrays_is_waited_for(device: Device) {
    let kernel = kernel(device, "alone");
    kernel.launch(&[10], &[2.into()]).expect("below 3");
    let error = kernel.launch(&[10], &[3.into()]).expect_err("not below 3").to_string();
    assert!(error.contains("assertion failed: below 3"), "{error}");
    kernel.launch(&[10], &[2.into()]).expect("below 3");
}

pub(crate) fn arrays_of_elsewhere_are_refused_by_name(device: Device) {
    let kernel = kernel(device, "add");
    let (here, there) = (stream(device), stream(device));
    let (a, b) = (zeros::<f32>(&here, &[4]), zeros::<f32>(&there, &[4]));
    let host = Array::from_slice(&[0.0f32; 4]);
    let launch = |a: &Array, b: &Array| kernel.launch(&[4], &[a.into(), b.into()]);
    if device == Device::Cpu {
        launch(&a, &b).and_then(|()| launch(&a, &host)).expect("all of it is the host's");
        assert_eq!(a.device_pointer(), None);
        return;
    }
    assert_eq!(
        launch(&a, &host).expect_err("on the host").to_string(),
        format!(
            "argument `sum` of kernel `add`: lies on `cpu`, but the kernel runs on `{device}`: make it in a stream of that device"
        )
    );
    assert_eq!(
        launch(&a, &b).expect_err("two streams").to_string(),
        "argument `sum` of kernel `add`: is of another stream than `a`: a launch has one"
    );
    let on_cpu = crate::kernel::kernel(Device::Cpu, "add");
    let refused = on_cpu.launch(&[4], &[(&host).into(), (&a).into()]);
    assert_eq!(
        refused.expect_err("on the device").to_string(),
        format!(
            "argument `sum` of kernel `add`: lies on `{device}`, but the kernel runs on `cpu`: copy it to the host"
        )
    );
    let part = a.slice(0, 1..4, 1).expect("a part");
    let pointers = [&a, &part].map(|array| array.device_pointer().expect("on a device"));
    assert_eq!(pointers[1], pointers[0] + 4);
}

pub(crate) fn streams_work_from_many_threads(device: Device) {
    let (kernel, shared) = (kernel(device, "add"), stream(device));
    let sum = zeros::<f32>(&shared, &[100]);
    let ones = shared.from_slice(&[1.0f32; 100]).expect("small");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = stream(device);
                let (a, b) =
                    (own.from_slice(&[2.0f32; 100]).expect("small"), zeros::<f32>(&own, &[100]));
                for _ in 0..10 {
                    kernel.launch(&[100], &[(&a).into(), (&b).into()]).expect("runs");
                    kernel.launch(&[100], &[(&ones).into(), (&sum).into()]).expect("runs");
                }
                assert_eq!(read::<f32>(&b), [20.0; 100]);
            });
        }
    });
    assert_eq!(read::<f32>(&sum), [40.0; 100]);
}

pub(crate) fn streams_can_be_put_in_order(device: Device) {
    let kernel = kernel(device, "add");
    let [first, then] = [stream(device), stream(device)];
    let source = first.from_slice(&[1.0f32; 100]).expect("small");
    // SAFETY: both streams live; the memory lives as long as `source` does.
    #[allow(unsafe_code, reason = "as with another library's tensor")]
    let ordered = || -> Result<Array, Error> {
        let (Some(address), Some(own)) = (source.device_pointer(), first.handle()) else {
            return Ok(source.clone());
        };
        unsafe {
            let tensor = then.external(address, 400, f32::data_type(), 0, &[100], &[4])?;
            then.wait_for(own)?;
            then.make_wait(own)?;
            Ok(tensor)
        }
    };
    let tensor = ordered().expect("a device");
    let sum = zeros::<f32>(&then, &[100]);
    kernel.launch(&[100], &[(&tensor).into(), (&sum).into()]).expect("runs");
    assert_eq!(read::<f32>(&sum), [1.0; 100]);
}
