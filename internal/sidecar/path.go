package sidecar

import (
	"slices"
	"strconv"
	"strings"
)

// path is where something stands in a message. It is written out only where
// something is told about it.
type path struct {
	up *path
	// name is a field, a path below, or the key of an entry.
	name string
	kind step
	i    int
}

type step uint8

const (
	field step = iota
	key
	index
)

func (p *path) field(name string) *path { return &path{up: p, name: name} }

func (p *path) key(k string) *path { return &path{up: p, name: k, kind: key} }

func (p *path) index(i int) *path { return &path{up: p, i: i, kind: index} }

func (p *path) String() string {
	var steps []string
	for ; p != nil; p = p.up {
		switch p.kind {
		case field:
			steps = append(steps, "."+p.name)
		case key:
			steps = append(steps, "["+strconv.Quote(p.name)+"]")
		case index:
			steps = append(steps, "["+strconv.Itoa(p.i)+"]")
		}
	}
	slices.Reverse(steps)
	return strings.TrimPrefix(strings.Join(steps, ""), ".")
}
