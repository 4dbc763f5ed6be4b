//! Folders with links, pipes and files of other users: these don't redirect or block a writer, and
//! don't affect the permissions of written files.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use gbxcule_files::{check_writable, move_inside, replace, sweep, write, write_new};
use tempfile::TempDir;

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo");
    assert!(made.success());
}

/// A folder with a file that must stay as it is.
fn with_precious() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    fs::create_dir(&own).expect("a folder");
    fs::write(own.join("file"), "precious").expect("a file");
    (folder, own)
}

fn is_untouched(own: &Path) -> bool {
    entries(own) == 1 && fs::read(own.join("file")).is_ok_and(|text| text == b"precious")
}

/// Only root can change owners; other users can't make these attacks either.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("skipped: only root can make files of another user");
    }
    is_root
}

const ANOTHER: Option<u32> = Some(1234);

#[test]
fn a_link_in_the_place_of_a_file_is_replaced_where_others_may_have_put_it() {
    let (folder, own) = with_precious();
    symlink(own.join("file"), folder.path().join("link")).expect("a link");
    make_pipe(&folder.path().join("pipe"));
    for name in ["link", "pipe"] {
        let place = folder.path().join(name);
        replace(folder.path(), name, b"text").expect("a folder");
        assert!(place.symlink_metadata().expect("there").is_file());
        assert_eq!(fs::read(place).expect("a file"), b"text");
    }
    symlink(own.join("new"), folder.path().join("nowhere")).expect("a link");
    assert!(!write_new(folder.path(), "nowhere", b"text").expect("something is there"));
    assert!(is_untouched(&own));
    fs::remove_file(folder.path().join("nowhere")).expect("a link");
    assert!(replace(folder.path(), "", b"text").is_err());
    assert_eq!(entries(folder.path()), 3);
}

#[test]
fn a_link_in_the_place_of_a_folder_is_refused_below_the_one_that_was_named() {
    let (folder, own) = with_precious();
    let dataset = folder.path().join("dataset");
    fs::create_dir_all(dataset.join("deep")).expect("folders");
    symlink(&own, dataset.join("data")).expect("a link");
    symlink(&own, dataset.join("deep/data")).expect("a link");
    symlink(&dataset, folder.path().join("named")).expect("a link");
    fs::write(folder.path().join("new"), "text").expect("a file");
    let named = folder.path().join("named");
    for inside in ["data/file", "data/new", "deep/data/file", "../own/file", "data/../file"] {
        let refused = replace(&named, inside, b"text").expect_err(inside).to_string();
        assert!(refused.contains("link") || refused.contains("outside"), "{refused}");
        let from = folder.path().join("new");
        assert!(move_inside(&from, &named, Path::new(inside)).is_err() && from.exists());
    }
    assert!(is_untouched(&own));
    // The folder that a user names may be a link, and what is missing below it is made.
    replace(&named, "made/here/file", b"text").expect("a folder of ours");
    assert_eq!(fs::read(dataset.join("made/here/file")).expect("a file"), b"text");
}

#[test]
fn links_and_pipes_of_others_in_an_open_folder_are_refused_wherever_they_stand_in_a_path() {
    if !is_root() {
        return;
    }
    for mode in [0o1777, 0o777, 0o2775] {
        let (folder, own) = with_precious();
        let open = folder.path().join("open");
        fs::create_dir(&open).expect("a folder");
        fs::set_permissions(&open, fs::Permissions::from_mode(mode)).expect("its owner");
        let [link, pipe, inner] = ["link", "pipe", "inner"].map(|name| open.join(name));
        symlink(own.join("file"), &link).expect("a link");
        symlink(&own, &inner).expect("a link");
        make_pipe(&pipe);
        for path in [&link, &pipe, &inner] {
            lchown(path, ANOTHER, None).expect("root");
        }
        symlink(&link, folder.path().join("to_theirs")).expect("a link");
        let through = [inner.join("file"), inner.join("new"), inner.join("../own/file")];
        for path in [&link, &pipe, &folder.path().join("to_theirs")].into_iter().chain(&through) {
            let refused = write(path, b"after").expect_err("another's");
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{refused}");
            assert!(refused.to_string().contains("of another user"), "{refused}");
            assert!(check_writable(path).is_err());
        }
        assert!(is_untouched(&own));
        // `replace` replaces links; `write` follows a link of our own.
        for name in ["link", "pipe"] {
            replace(&open, name, b"new").expect("a folder to write to");
            assert!(fs::symlink_metadata(open.join(name)).expect("a file").is_file());
        }
        assert!(is_untouched(&own));
        symlink(own.join("file"), open.join("mine")).expect("a link");
        write(&open.join("mine"), b"after").expect("an own link");
        assert_eq!(fs::read(own.join("file")).expect("a file"), b"after");
    }
}

/// Another user who made the file first could make ours run as us, or writable by everybody.
#[test]
fn a_file_of_another_user_gives_no_rights_to_the_one_that_replaces_it() {
    use std::os::unix::fs::MetadataExt;

    let folder = tempfile::tempdir().expect("a folder");
    let [own, theirs, fresh] = ["own", "theirs", "fresh"].map(|it| folder.path().join(it));
    let mode = |path: &Path| fs::metadata(path).expect("a file").mode() & 0o7777;
    for path in [&own, &theirs] {
        fs::write(path, "before").expect("a file");
    }
    if is_root() {
        lchown(&theirs, ANOTHER, None).expect("root");
        fs::set_permissions(&theirs, fs::Permissions::from_mode(0o6777)).expect("root");
        write(&theirs, b"after").expect("a file");
        write(&fresh, b"after").expect("a file");
        assert_eq!(mode(&theirs), mode(&fresh));
    }
    // A replaced file of our own doesn't keep its set-user-ID bit either.
    fs::set_permissions(&own, fs::Permissions::from_mode(0o4750)).expect("ours");
    write(&own, b"after").expect("a file");
    assert_eq!(mode(&own), 0o750);
}

/// Other users know the names of killed processes' files.
#[test]
fn files_of_others_under_our_names_are_neither_opened_nor_removed() {
    let (folder, own) = with_precious();
    let names = [".gbxcule-0000000000000001.part", ".gbxcule-0000000000000002.part"];
    let [link, pipe] = names.map(|name| folder.path().join(name));
    symlink(own.join("file"), &link).expect("a link");
    make_pipe(&pipe);
    let theirs = folder.path().join(".gbxcule-0000000000000003.part");
    fs::write(&theirs, "theirs").expect("a file");
    let is_root = is_root();
    if is_root {
        lchown(&theirs, ANOTHER, None).expect("root");
    }
    assert_eq!(sweep(folder.path()), usize::from(!is_root));
    assert_eq!(theirs.exists(), is_root);
    assert!(link.is_symlink() && pipe.exists() && is_untouched(&own));
}

#[test]
fn scratch_files_and_programs_are_not_reached_through_what_a_child_left() {
    let (folder, own) = with_precious();
    let (victim, left) = (own.join("file"), folder.path().join("main"));
    symlink(&victim, &left).expect("a link");
    assert!(gbxcule_files::allow_execution(&left).is_err());
    gbxcule_files::write_scratch(&left, b"text").expect("a folder to write to");
    assert!(is_untouched(&own));
    gbxcule_files::allow_execution(&left).expect("a file");
    fs::hard_link(&victim, folder.path().join("second")).expect("a link");
    assert!(gbxcule_files::allow_execution(&victim).is_err());
}

/// A program that works in a scratch folder nests folders for as long as it likes.
#[test]
fn folders_nested_deeper_than_paths_and_descriptors_go_are_removed() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, rename, symlinkat};

    let folder = tempfile::tempdir().expect("a folder");
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    let scratch = gbxcule_files::TemporaryFolder::inside(folder.path()).expect("a folder");
    let open = |at: std::os::fd::BorrowedFd<'_>, name: &str| {
        openat(at, name, OFlags::DIRECTORY, Mode::empty()).expect("a folder of ours")
    };
    let mut inner = open(CWD, scratch.path().to_str().expect("UTF-8"));
    for level in 0..3000 {
        symlinkat(&victim, &inner, "1").expect("a link");
        let name = if level % 2 == 0 { "folder" } else { "2" };
        mkdirat(&inner, name, Mode::RWXU).expect("a folder");
        inner = open(std::os::fd::AsFd::as_fd(&inner), name);
    }
    mkdirat(&inner, "closed", Mode::empty()).expect("a folder that nobody may enter");
    drop(scratch);
    assert_eq!(entries(folder.path()), 1, "the victim alone is left");
    assert_eq!(fs::read(&victim).expect("a file"), b"precious");
    // A killed process's folders of this depth are removed, too.
    let left = folder.path().join(".gbxcule-0000000000000001.part");
    fs::create_dir_all(left.join("a/b/c")).expect("folders");
    rename(&victim, left.join("a/file")).expect("a file");
    assert_eq!(sweep(folder.path()), 1);
    assert_eq!(entries(folder.path()), 0);
}

/// Descriptors of this process, by the names that the system gives them.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_of_this_process_are_written_to_by_every_name() {
    use std::io::{Read, Seek};
    use std::os::fd::AsRawFd;

    let mut file = tempfile::tempfile().expect("a file");
    let number = file.as_raw_fd();
    for name in [format!("/dev/fd/{number}"), format!("/proc/self/fd/{number}")] {
        write(Path::new(&name), b"text").expect("an open file");
        let mut text = String::new();
        file.rewind().expect("a file");
        file.read_to_string(&mut text).expect("text");
        assert_eq!(text, "text", "{name}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let open = fs::File::open(folder.path()).expect("a folder");
    let through = format!("/proc/self/fd/{}/inside/file", open.as_raw_fd());
    write(Path::new(&through), b"text").expect("an open folder");
    assert!(folder.path().join("inside/file").exists());
}
