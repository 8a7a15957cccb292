package folder_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/meshproof/meshproof/internal/folder"
)

// TestReadRefusesAtOnce shows that neither an endless file, nor one without a writer, nor a
// large one is waited for or kept.
func TestReadRefusesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("full"), "12345")
	write(t, in("small"), "")
	write(t, in("marked"), "\ufeffab")
	write(t, in("little"), "\xff\xfea\x00")
	write(t, in("big"), "\xfe\xff\x00a")
	large := in("large")
	write(t, large, "")
	if err := os.Truncate(large, 100<<20); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	socket, err := lc.Listen(t.Context(), "unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, name := range []string{"pipe", "full"} {
		if err := os.Symlink(in(name), in("link to "+name)); err != nil {
			t.Fatal(err)
		}
	}

	for _, c := range []struct {
		path  string
		limit int64
		want  string // of the error, or of the content where it begins with "="
	}{
		{in("full"), 5, "=12345"},
		{in("link to full"), 5, "=12345"},
		{in("small"), 5, "="},
		{in("marked"), 5, "=ab"},
		{in("little"), 5, "it is UTF-16: save it as UTF-8"},
		{in("big"), 5, "it is UTF-16: save it as UTF-8"},
		{in("full"), 4, "it has 5 bytes or more, and the limit is 4"},
		{large, folder.Limit, "it has 104857600 bytes or more, and the limit is 16777216"},
		{"/dev/zero", folder.Limit, "it is a device, and only regular files are read"},
		{in("pipe"), folder.Limit, "it is a named pipe"},
		{in("link to pipe"), folder.Limit, "it is a named pipe"},
		{in("socket"), folder.Limit, "socket: "},
		{dir, folder.Limit, "is a directory"},
		{in("nothing"), folder.Limit, "no such file"},
	} {
		data, err := folder.ReadUpTo(c.path, c.limit)
		if content, ok := strings.CutPrefix(c.want, "="); ok {
			if err != nil || string(data) != content {
				t.Errorf("%s: %q, %v, want %q", c.path, data, err, content)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*fs.PathError)) || data != nil {
			t.Errorf("%s: %d bytes, %v, want an error with %q", c.path, len(data), err, c.want)
		}
	}
}

// TestReadTakesTheLimitOfTheEnvironment shows that a user can have larger files read, and smaller ones
// refused, and that the error names the variable.
func TestReadTakesTheLimitOfTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(file, make([]byte, folder.Limit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]string{
		"":     "the limit is 16777216: MESHPROOF_FILE_LIMIT sets another limit, in megabytes",
		"1":    "the limit is 1048576: MESHPROOF_FILE_LIMIT",
		"17":   "",
		"0":    `MESHPROOF_FILE_LIMIT is "0": write a number of megabytes from 1 to 1024`,
		"1025": "from 1 to 1024",
		"17MB": "from 1 to 1024",
	} {
		t.Setenv(folder.LimitVariable, limit)
		data, err := folder.Read(file)
		switch {
		case want == "" && (err != nil || len(data) != folder.Limit+1):
			t.Errorf("limit %q: %d bytes, %v", limit, len(data), err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*fs.PathError))):
			t.Errorf("limit %q: %v, want %q", limit, err, want)
		}
	}
}

// TestFilesOfAFolder shows that a folder has the files that kubectl applies from it.
func TestFilesOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yml", "c.json", "d.txt", "e.yaml.bak"} {
		write(t, filepath.Join(dir, name), "")
	}
	inside, err := folder.OpenInside(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	for want, list := range map[string]func() ([]string, error){
		"a.yaml b.yml c.json": func() ([]string, error) { return folder.Files(dir) },
		"a.yaml b.yml":        func() ([]string, error) { return folder.YAML(dir) },
		"c.json a.yaml b.yml": func() ([]string, error) { return inside.Files(".") },
	} {
		files, err := list()
		var names []string
		for _, file := range files {
			names = append(names, filepath.Base(file))
		}
		slices.Sort(names)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if err != nil || !slices.Equal(names, wanted) {
			t.Errorf("%v, %v, want %v", names, err, wanted)
		}
	}
}

// TestReadBoundsAFileWithoutASize shows that the limit holds where the size of the file says
// nothing.
func TestReadBoundsAFileWithoutASize(t *testing.T) {
	t.Parallel()
	const file = "/proc/self/maps"
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Skip("this system has no file without a size")
	}
	if data, err := folder.ReadUpTo(file, 10); err == nil || !strings.Contains(err.Error(), "the limit is 10") || data != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
