package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/meshproof/meshproof"

// goPackage is what this command needs of the output of go list.
type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// room is one or more packages that the picture shows as one box.
type room struct {
	// name is the path of its first package in the module.
	name string
	// guarantee is a clause of the package comment.
	guarantee string
	// imports are the rooms that this room imports.
	imports []*room
	// floor is 0 for a room that imports no other, else one more than the highest that it imports.
	floor int
}

// house is all rooms, sorted by name.
type house struct{ rooms []*room }

// moduleRoot returns the folder of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find go.mod: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// listPackages asks the go command for the packages of the module.
func listPackages(root string) ([]goPackage, error) {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("list the packages: %w", err)
		}
		packages = append(packages, p)
	}
}

func readHouse(root string) (*house, error) {
	packages, err := listPackages(root)
	if err != nil {
		return nil, err
	}
	rooms := map[string]*room{}
	for _, p := range packages {
		path, ok := roomOf(p)
		if !ok || rooms[path] != nil {
			continue
		}
		rooms[path] = &room{name: path}
	}
	for _, p := range packages {
		path, ok := roomOf(p)
		if !ok {
			continue
		}
		r := rooms[path]
		for _, imported := range p.Imports {
			below := rooms[roomPath(strings.TrimPrefix(imported, module+"/"))]
			if strings.HasPrefix(imported, module+"/") && below != nil && below != r && !slices.Contains(r.imports, below) {
				r.imports = append(r.imports, below)
			}
		}
		if p.ImportPath == module+"/"+r.name {
			if r.guarantee, err = readGuarantee(p); err != nil {
				return nil, err
			}
		}
	}
	h := &house{}
	for _, r := range rooms {
		h.rooms = append(h.rooms, r)
	}
	slices.SortFunc(h.rooms, byName)
	for _, r := range h.rooms {
		slices.SortFunc(r.imports, byName)
	}
	return h, h.findFloors()
}

func byName(a, b *room) int { return strings.Compare(a.name, b.name) }

// roomOf returns the room of a package, and false if the picture leaves the package out.
func roomOf(p goPackage) (string, bool) {
	path := strings.TrimPrefix(p.ImportPath, module+"/")
	for _, left := range leftOut {
		if path == left || strings.HasPrefix(path, left+"/") {
			return "", false
		}
	}
	// A package of tests alone guarantees nothing to other rooms.
	return roomPath(path), len(p.GoFiles) > 0
}

// roomPath returns the room of a path in the module: the room of the longest prefix in
// walls, else the path itself.
func roomPath(path string) string {
	longest := ""
	for prefix := range walls {
		if (path == prefix || strings.HasPrefix(path, prefix+"/")) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	if longest != "" {
		return walls[longest]
	}
	return path
}

// A package comment says what the package guarantees in a clause after these words, or
// in the first item of a list below this heading.
const (
	guaranteeWords = "guarantees that "
)

var (
	guaranteeBegins = regexp.MustCompile(guaranteeWords + `|What (it|the package) guarantees:?( -)? `)

	clauseEnds = regexp.MustCompile(`[:;]|,? and that |, (that|so that|see) |\.(\s|$)`)
	docLink    = regexp.MustCompile(`\[\*?([\w.]+)\]`)
)

// readGuarantee returns the first clause of what the package comment guarantees; "" where
// it guarantees nothing.
func readGuarantee(p goPackage) (string, error) {
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		text := strings.Join(strings.Fields(file.Doc.Text()), " ")
		if at := guaranteeBegins.FindStringIndex(text); at != nil {
			clause := text[at[1]:]
			clause = clause[:clauseEnds.FindStringIndex(clause + ".")[0]]
			return docLink.ReplaceAllString(strings.TrimSuffix(clause, "."), "$1"), nil
		}
	}
	return "", nil
}

// findFloors numbers the floors. It returns an error that names the rooms of a circle.
func (h *house) findFloors() error {
	const open = -1
	floors := map[*room]int{}
	var visit func(r *room, path []string) error
	visit = func(r *room, path []string) error {
		path = append(path, r.name)
		if floor, seen := floors[r]; seen {
			if floor == open {
				return fmt.Errorf("the rooms import each other in a circle: %s", strings.Join(path, " → "))
			}
			return nil
		}
		floors[r] = open
		for _, below := range r.imports {
			if err := visit(below, path); err != nil {
				return err
			}
			r.floor = max(r.floor, floors[below]+1)
		}
		floors[r] = r.floor
		return nil
	}
	for _, r := range h.rooms {
		if err := visit(r, nil); err != nil {
			return err
		}
	}
	return nil
}

// arrows returns the imports of a room that no other import implies.
func (r *room) arrows() []*room {
	var out []*room
	for _, target := range r.imports {
		implied := slices.ContainsFunc(r.imports, func(other *room) bool { return other != target && other.reaches(target) })
		if !implied {
			out = append(out, target)
		}
	}
	return out
}

func (r *room) reaches(target *room) bool {
	return r == target || slices.ContainsFunc(r.imports, func(below *room) bool { return below.reaches(target) })
}

// floors returns the rooms of each floor, the lowest floor first.
func (h *house) floors() [][]*room {
	var out [][]*room
	for _, r := range h.rooms {
		for len(out) <= r.floor {
			out = append(out, nil)
		}
		out[r.floor] = append(out[r.floor], r)
	}
	return out
}
