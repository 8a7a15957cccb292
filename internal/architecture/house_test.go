package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// theHouse reads the packages of the module once for all tests.
var theHouse = sync.OnceValues(func() (*house, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return readHouse(root)
})

func mustHouse(t *testing.T) *house {
	t.Helper()
	h, err := theHouse()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPictureIsTheCommittedOne(t *testing.T) {
	t.Parallel()
	if readFile(t, pictureFile) != mustHouse(t).picture() {
		t.Errorf("%s does not show the imports as they are: run go run ./internal/architecture", pictureFile)
	}
}

func TestEveryRoomGuaranteesSomething(t *testing.T) {
	t.Parallel()
	for _, r := range mustHouse(t).rooms {
		if r.guarantee == "" {
			t.Errorf("%s: its package comment does not say what the package %s…", r.name, guaranteeWords)
		}
		if lines := wrap(r.guarantee); len(lines) > guaranteeLines {
			t.Errorf("%s: its guarantee has %d lines, and %d fit into the picture: %q; say the rest behind a semicolon", r.name, len(lines), guaranteeLines, lines)
		}
	}
}

// readHouse refuses a circle, so that every arrow leads down.
func TestArrowsLeadDown(t *testing.T) {
	t.Parallel()
	h := mustHouse(t)
	if len(h.rooms) < 20 {
		t.Errorf("there are %d rooms", len(h.rooms))
	}
	for _, r := range h.rooms {
		for _, below := range r.imports {
			if below.floor >= r.floor {
				t.Errorf("%s on floor %d imports %s on floor %d", r.name, r.floor, below.name, below.floor)
			}
		}
	}
}

func TestCircleIsNamed(t *testing.T) {
	t.Parallel()
	a, b, c := &room{name: "a"}, &room{name: "b"}, &room{name: "c"}
	a.imports, b.imports, c.imports = []*room{b}, []*room{c}, []*room{b}
	err := (&house{rooms: []*room{a, b, c}}).findFloors()
	if err == nil || !strings.Contains(err.Error(), "a → b → c → b") {
		t.Errorf("error %v", err)
	}
}

func TestArrowsLeaveOutWhatOthersImply(t *testing.T) {
	t.Parallel()
	bottom := &room{name: "bottom"}
	middle := &room{name: "middle", imports: []*room{bottom}, floor: 1}
	top := &room{name: "top", imports: []*room{bottom, middle}, floor: 2}
	if arrows := top.arrows(); len(arrows) != 1 || arrows[0] != middle {
		t.Errorf("%d arrows", len(arrows))
	}
}
