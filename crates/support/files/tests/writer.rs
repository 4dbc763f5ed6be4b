//! Guarantees of the writer: a file is complete or not there, in spite of anything in the way and
//! of other writers.

use std::fs;
use std::io::Write;
use std::path::Path;

use gbxcule_files::{NewFile, TemporaryFolder, check_writable, sweep, write, write_new};

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn a_file_is_there_when_it_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a/b/file.json");
    let mut file = NewFile::create(&path).expect("a new file");
    file.write_all(b"text").expect("room");
    assert!(!path.exists());
    file.commit().expect("a place");
    assert_eq!(fs::read(&path).expect("the file"), b"text");
    drop(NewFile::create(&path).expect("another"));
    assert_eq!(fs::read(&path).expect("still the first"), b"text");
    assert_eq!(entries(path.parent().expect("a folder")), 1);
}

#[test]
fn many_writers_of_one_file_leave_one_of_their_texts_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let texts: Vec<Vec<u8>> = (0..8_u8).map(|byte| vec![byte; 100_000]).collect();
    std::thread::scope(|scope| {
        for text in &texts {
            scope.spawn(|| (0..10).for_each(|_| write(&path, text).expect("its own name")));
        }
        scope.spawn(|| (0..200).for_each(|_| _ = sweep(folder.path())));
    });
    assert!(texts.contains(&fs::read(&path).expect("a file")));
    assert_eq!(entries(folder.path()), 1);
}

#[test]
fn of_many_that_write_a_new_file_one_wins() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let winners = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8_u8)
            .map(|byte| {
                (
                    byte,
                    scope.spawn({
                        let folder = folder.path();
                        move || write_new(folder, "file", &[byte]).expect("a folder")
                    }),
                )
            })
            .collect();
        all.into_iter()
            .filter_map(|(byte, it)| it.join().expect("no panic").then_some(byte))
            .collect::<Vec<u8>>()
    });
    assert_eq!(winners, fs::read(&path).expect("a file"));
    assert_eq!(entries(folder.path()), 1);
}

#[test]
fn a_longest_name_is_written_and_a_longer_one_is_a_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder.path().join("n".repeat(255)), b"text").expect("a name that fits");
    let error =
        write(&folder.path().join("n".repeat(256)), b"text").expect_err("too long").to_string();
    assert!(error.contains("its name has 256 bytes"), "{error}");
    assert_eq!(entries(folder.path()), 1);
}

#[test]
fn a_folder_in_the_way_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = write(folder.path(), b"text").expect_err("a folder").to_string();
    assert_eq!(error, "a folder is in its place");
    assert_eq!(entries(folder.path()), 0);
}

mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn a_link_is_followed_and_stays_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let [target, link, second] =
            ["sub/target", "link", "second"].map(|it| folder.path().join(it));
        fs::create_dir(folder.path().join("sub")).expect("a folder");
        symlink("sub/target", &link).expect("a link");
        symlink("link", &second).expect("a link");
        for text in ["dangling at first", "replaced this time"] {
            write(&second, text.as_bytes()).expect("its target");
            assert_eq!(fs::read_to_string(&target).expect("the target"), text);
            assert!(fs::symlink_metadata(&second).expect("a link").is_symlink());
            assert!(fs::symlink_metadata(&target).expect("a file").is_file());
        }
        symlink("circle", folder.path().join("circle")).expect("a link");
        let error = write(&folder.path().join("circle"), b"").expect_err("a circle").to_string();
        assert!(error.contains("circle"), "{error}");
    }

    #[test]
    fn pipes_and_devices_are_written_to_and_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success()
        );
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path)
        });
        write(&path, b"text").expect("somebody reads");
        assert_eq!(reader.join().expect("a thread").expect("bytes"), b"text");
        assert!(fs::metadata(&path).expect("still there").file_type().is_fifo());
        write(Path::new("/dev/null"), b"text").expect("it takes everything");
        assert!(fs::metadata("/dev/null").expect("still there").file_type().is_char_device());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let error = write(Path::new("/dev/full"), b"text").expect_err("it is full");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }

    #[test]
    fn permissions_of_a_file_stay_when_it_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        write(&path, b"one").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        write(&path, b"two").expect("a file");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_scratch_folder_goes_with_its_owner_and_one_left_behind_with_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = TemporaryFolder::inside(folder.path()).expect("a folder");
        let left = folder.path().join(".gbxcule-0123456789abcdef.part");
        fs::create_dir(&left).expect("a folder");
        fs::write(left.join("main"), "text").expect("a file");
        let two = TemporaryFolder::inside(folder.path()).expect("a folder");
        assert!(one.path().exists() && two.path().exists() && !left.exists());
        let place = folder.path().join("place");
        fs::write(two.path().join("file"), "text").expect("a file");
        two.rename("place").expect("a free name");
        drop(one);
        assert_eq!(entries(folder.path()), 1);
        assert!(place.join("file").exists());
    }
}

#[test]
fn remains_of_killed_processes_beside_a_file_go_with_the_first_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = [".gbxcule-0123456789abcdef.part", ".gbxcule-fedcba9876543210.part"];
    let [left, used] = names.map(|name| folder.path().join(name));
    fs::write(&left, b"half").expect("a file");
    let living = fs::File::create(&used).expect("a file");
    living.lock().expect("a lock");
    write(&folder.path().join("swarm.ckpt"), b"whole").expect("a folder");
    assert!(!left.exists() && used.exists());
    assert_eq!(entries(folder.path()), 2);
}

#[test]
fn a_check_before_the_work_says_what_writing_would() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), "before").expect("a file");
    for free in ["new", "file", "a/b"] {
        check_writable(&path(free)).expect(free);
    }
    assert_eq!(fs::read(path("file")).expect("a file"), b"before");
    fs::create_dir(path("folder")).expect("a folder");
    for taken in ["folder", "file/below", "folder/b/../..", &"x".repeat(300)] {
        assert!(check_writable(&path(taken)).is_err(), "{taken}");
    }
    check_writable(Path::new("/dev/null")).expect("a device");
    assert_eq!((entries(folder.path()), entries(&path("folder"))), (2, 0), "nothing is left");
}

#[test]
fn folders_that_many_threads_make_at_one_place_are_there_until_they_are_dropped() {
    let parent = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let own = gbxcule_files::TemporaryFolder::inside(parent.path());
                    let own = own.expect("a folder");
                    gbxcule_files::write_scratch(&own.path().join("file"), b"text").expect("there");
                }
            });
        }
    });
}
