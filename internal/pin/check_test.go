package pin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/testbed"
)

// TestAChangedBinaryIsRefused changes the binary in the cache, keeping its size.
func TestAChangedBinaryIsRefused(t *testing.T) {
	t.Parallel()
	script := "#!/bin/sh\n" + strings.Repeat("#", len(fakeBinary)-len("#!/bin/sh\n"))
	flipped := "N" + fakeBinary[1:]
	for name, change := range map[string]func(path string) error{
		"one byte flipped": func(path string) error { return os.WriteFile(path, []byte(flipped), 0o755) },
		"another file in its place": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte(script), 0o755), os.Rename(path+".new", path))
		},
		"its times set back": func(path string) error {
			info, err := os.Stat(path)
			return errors.Join(err, os.WriteFile(path, []byte(flipped), 0o755), os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, downloads := fakeStore(t, fakeBinary)
			path, err := s.Fetch(t.Context(), "9.9.9")
			if err == nil {
				err = s.Check(path, "9.9.9")
			}
			if err == nil {
				err = change(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, fetched := s.Fetch(t.Context(), "9.9.9")
			for what, err := range map[string]error{"Fetch": fetched, "Check": s.Check(path, "9.9.9")} {
				if !errors.Is(err, ErrDigest) {
					t.Errorf("%s: %v", what, err)
				}
				testbed.CheckOneLine(t, "envoy: ", err, "check the binary "+path, "it has SHA-256 ", " is pinned; look for what changed it and remove it")
			}
			if n := downloads.Load(); n != 1 {
				t.Errorf("%d downloads, want 1", n)
			}
		})
	}
}

// TestBinaryIsReadAgainWhenItsFileChanged shows when the binary is read again, and what reads it always.
func TestBinaryIsReadAgainWhenItsFileChanged(t *testing.T) {
	t.Parallel()
	s, _ := fakeStore(t, fakeBinary)
	path, err := s.Fetch(t.Context(), "9.9.9")
	if err != nil {
		t.Fatal(err)
	}
	// The same content in a new file is read again, and gets a new stamp.
	before := readStamp(path)
	if err := errors.Join(os.WriteFile(path+".new", []byte(fakeBinary), 0o755), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(path, "9.9.9"); err != nil {
		t.Errorf("the same content: %v", err)
	}
	if after := readStamp(path); after == before || after.digest != before.digest {
		t.Errorf("the stamp was %v and is %v", before, after)
	}
	// A forged stamp deceives Check, and not Digest.
	if err := os.WriteFile(path, []byte("N"+fakeBinary[1:]), 0o755); err != nil {
		t.Fatal(err)
	}
	identity, err := identityOf(path)
	if err != nil {
		t.Fatal(err)
	}
	stamp{before.digest, identity}.write(path)
	if digest, err := s.Digest(path, "9.9.9"); !errors.Is(err, ErrDigest) || digest != "" {
		t.Errorf("a forged stamp: %q, %v", digest, err)
	}
}

// TestACopiedBinaryHasThePinOfItsCopy shows the same for a binary out of an image.
func TestACopiedBinaryHasThePinOfItsCopy(t *testing.T) {
	t.Parallel()
	s, _ := fakeStore(t, fakeBinary)
	s.download = func(context.Context, string, string, []string) error { return errors.New("no network") }
	s.copyOut = func(_ context.Context, _, target string) (string, error) {
		return WriteBinary(target, strings.NewReader("another build"))
	}
	path, err := s.Fetch(t.Context(), "9.9.9")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Fetch(t.Context(), "9.9.9"); again != path || err != nil || filepath.Base(path) != copiedName {
		t.Errorf("fetched %s, then %s, %v", path, again, err)
	}
	if err := os.WriteFile(path, []byte("another bu1ld"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(path, "9.9.9"); !errors.Is(err, ErrDigest) {
		t.Errorf("a changed copy: %v", err)
	}
}

// TestPipRunsNothingOfTheWorkingDirectory starts pip in a folder that has a module pip.
func TestPipRunsNothingOfTheWorkingDirectory(t *testing.T) {
	folder := t.TempDir()
	mark := filepath.Join(folder, "mark")
	if err := os.WriteFile(filepath.Join(folder, "pip.py"), []byte("open("+`"`+mark+`"`+", 'w')"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	_, err := pip(t.Context(), t.TempDir(), "--version")
	if errors.Is(err, ErrNoPip) {
		t.Skip(err)
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("pip.py of the working directory was run")
	}
}
