# Install flakeproof VERSION for this user: download the program, check it, unpack it.
#
#   $env:FLAKEPROOF_INSTALL   the folder for the program (%LOCALAPPDATA%\flakeproof)
#   $env:FLAKEPROOF_DOWNLOAD  where the archives are, for a mirror
#
# A proxy is the one of the system. Nothing is changed outside the folder but this user's path.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # Its bar makes downloads ten times slower.

$version = 'VERSION'
$address = if ($env:FLAKEPROOF_DOWNLOAD) { $env:FLAKEPROOF_DOWNLOAD } else { 'ADDRESS' }
$folder = if ($env:FLAKEPROOF_INSTALL) { $env:FLAKEPROOF_INSTALL } else { Join-Path $env:LOCALAPPDATA 'flakeproof' }

function Stop-With($what, $next) {
    [Console]::Error.WriteLine("flakeproof: $what`nnext: $next")
    exit 1
}

if ($env:PROCESSOR_ARCHITECTURE -notin 'AMD64', 'ARM64') {
    Stop-With "there is no program for Windows on $env:PROCESSOR_ARCHITECTURE yet" 'build it with a Rust toolchain: cargo install --path crates/flakeproof, in the sources'
}
if (-not (Get-Command tar -ErrorAction SilentlyContinue)) {
    Stop-With 'tar is not here' 'use Windows 10 of 2018 or newer, which has it, or unpack the archive by hand'
}
$name = "flakeproof-$version-x86_64-pc-windows-gnu" # Windows on ARM runs it as well.
try { $work = New-Item -ItemType Directory -Force (Join-Path $folder ".new-$PID") }
catch { Stop-With "$folder cannot be written to" 'name a folder that you may write to in FLAKEPROOF_INSTALL' }
try {
    $archive = Join-Path $work 'archive.tar.gz'
    $sums = Join-Path $work 'sums'
    try {
        Invoke-WebRequest -UseBasicParsing "$address/$name.tar.gz" -OutFile $archive
        Invoke-WebRequest -UseBasicParsing "$address/SHA256SUMS" -OutFile $sums
    } catch { Stop-With "$address/$name.tar.gz cannot be downloaded: $_" 'check the network and the proxy; for a mirror, set FLAKEPROOF_DOWNLOAD' }
    $line = Get-Content $sums | Where-Object { $_ -match "  $([regex]::Escape($name)).tar.gz$" }
    if (-not $line) { Stop-With "SHA256SUMS does not name $name.tar.gz" 'report this: the release is incomplete' }
    if ((Get-FileHash -Algorithm SHA256 $archive).Hash -ne $line.Split(' ')[0]) {
        Stop-With "$name.tar.gz is not what was released: the download is incomplete or was changed" 'run this again; if it stays so, do not use the file, and report it'
    }
    tar -xzf $archive -C $work
    if ($LASTEXITCODE -ne 0) { Stop-With "$name.tar.gz cannot be unpacked" 'make room, then run this again' }
    Move-Item -Force (Join-Path $work "$name\flakeproof.exe") (Join-Path $folder 'flakeproof.exe')
} finally { Remove-Item -Recurse -Force $work }
Write-Output "flakeproof $version is in $folder"
$other = Get-Command flakeproof -ErrorAction SilentlyContinue
if ($other -and $other.Source -ne (Join-Path $folder 'flakeproof.exe')) {
    Write-Output "next: $($other.Source) comes first on your path: remove it, or put $folder before it"
} elseif (-not $other) {
    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    [Environment]::SetEnvironmentVariable('Path', "$folder;$path", 'User')
    Write-Output 'next: open a new terminal, which knows the new path'
}
