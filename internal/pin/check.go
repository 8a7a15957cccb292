package pin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A binary of the store has a stamp beside it: its SHA-256, and the identity that its file had when that was computed. The
// system changes the time in the identity with each change of the file, and no program can set it. So a file with the identity
// of its stamp has the digest of its stamp. Who can write the user's cache can forge a stamp as well; [Store.Digest] reads the
// whole binary and does not ask the stamp.
const stampSuffix = ".checked"

type stamp struct{ digest, identity string }

func readStamp(path string) stamp {
	text, err := os.ReadFile(path + stampSuffix)
	if err != nil {
		return stamp{}
	}
	digest, identity, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return stamp{digest, identity}
}

// write replaces the stamp of a binary. A stamp that cannot be written costs the time to compute it again.
func (s stamp) write(path string) {
	fresh, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+stampSuffix+"-")
	if err != nil {
		return
	}
	_, err = fmt.Fprintln(fresh, s.digest, s.identity)
	if errors.Join(err, fresh.Close()) != nil || os.Rename(fresh.Name(), path+stampSuffix) != nil {
		os.Remove(fresh.Name())
	}
}

// identityOf returns what the system changes when the content of a file changes.
func identityOf(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return fmt.Sprintf("%d:%d:%d:%d.%09d", st.Dev, st.Ino, st.Size, st.Ctim.Sec, st.Ctim.Nsec), nil
}

// Check compares a binary of the store, which Fetch returned, with its pin. The error has the reason [ErrDigest] if it is another
// binary. It takes some tenths of a second for a file that changed since the last check, and next to nothing for any other.
func (s *Store) Check(path, version string) error {
	last := readStamp(path)
	want := s.wanted(path, version, last)
	identity, err := identityOf(path)
	if err != nil {
		return checkError(path, ErrDigest, err)
	}
	if want != "" && last == (stamp{want, identity}) {
		return nil
	}
	digest, err := s.Digest(path, version)
	if err != nil {
		return err
	}
	if now, err := identityOf(path); err != nil || now != identity {
		return checkError(path, ErrDigest, errors.New("it changes while it is read"))
	}
	stamp{digest, identity}.write(path)
	return nil
}

// Digest returns the SHA-256 of a binary of the store, in hex. The error has the reason [ErrDigest] if that is not its pin.
func (s *Store) Digest(path, version string) (string, error) {
	digest, err := fileDigest(path)
	if err != nil {
		return "", checkError(path, ErrDigest, err)
	}
	if want := s.wanted(path, version, readStamp(path)); digest != want {
		return "", checkError(path, ErrDigest, fmt.Errorf("it has SHA-256 %s, and %s is pinned", digest, want))
	}
	return digest, nil
}

// wanted is the digest that a binary must have: its pin, or for a copy out of an image the digest that it had then.
func (s *Store) wanted(path, version string, last stamp) string {
	if filepath.Base(path) == copiedName {
		return last.digest
	}
	return s.catalog.Releases[version][s.platform].SHA256
}

func checkError(path string, reason, cause error) error {
	return &Error{
		Doing: "check the binary " + path, Reason: reason, Cause: cause,
		Hint: "look for what changed it and remove it, then it is fetched again",
	}
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return Digest(f)
}
