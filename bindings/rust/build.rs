// SPDX-License-Identifier: MIT
//! Finds the C library: TACH_LIB_DIR, pkg-config, or a build of it here with the feature `vendored`.
use std::process::Command;

fn pkg_config(what: &str) -> Option<String> {
    let out = Command::new("pkg-config")
        .args([what, "tach"])
        .output()
        .ok()?;
    out.status
        .success()
        .then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

fn installed() {
    println!("cargo:rerun-if-env-changed=TACH_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = std::env::var("TACH_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
    } else if let Some(flags) = pkg_config("--libs-only-L") {
        for flag in flags.split_whitespace() {
            println!(
                "cargo:rustc-link-search=native={}",
                flag.trim_start_matches("-L")
            );
        }
    }
    // If the prefix is a folder that the dynamic linker does not search, pkg-config names an rpath.
    // Cargo cannot pass it to programs that use this crate, so the archive is linked.
    let private = std::env::var_os("TACH_LIB_DIR").is_none()
        && pkg_config("--libs").map_or(false, |flags| flags.contains("-rpath"));
    if private {
        println!("cargo:rustc-link-lib=static=tach");
        for library in ["m", "pthread", "dl"] {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    } else {
        println!("cargo:rustc-link-lib=dylib=tach");
    }
}

/// The C sources: TACH_SOURCE, the folder `c` that `make crate` puts into the crate, or the tree
/// that contains the crate. The library's own programs generate its tables, so make builds it,
/// with the compiler that cc would use.
#[cfg(feature = "vendored")]
fn vendored() {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let source = std::env::var("TACH_SOURCE").unwrap_or_else(|_| {
        let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
        let within = format!("{here}/c");
        if std::path::Path::new(&within).exists() {
            within
        } else {
            format!("{here}/../..")
        }
    });
    let compiler = cc::Build::new().get_compiler();
    let status = Command::new("make")
        .current_dir(&source)
        .env_remove("MAKEFLAGS")
        .arg("-s")
        .arg(format!("CC={}", compiler.path().display()))
        .arg(format!("B={out}/tach"))
        .arg(format!("{out}/tach/libtach.a"))
        .status();
    match status {
        Ok(status) if status.success() => {}
        other => panic!("make did not build libtach.a in {source}: {other:?}"),
    }
    println!("cargo:rerun-if-env-changed=TACH_SOURCE");
    for folder in ["core", "arch", "include"] {
        println!("cargo:rerun-if-changed={source}/{folder}");
    }
    println!("cargo:rustc-link-search=native={out}/tach");
    println!("cargo:rustc-link-lib=static=tach");
    for library in ["m", "pthread", "dl"] {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "vendored")]
    vendored();
    if std::env::var_os("CARGO_FEATURE_VENDORED").is_none() {
        installed();
    }
}
