package sidecar

import "github.com/meshproof/meshproof/internal/dump"

// findings collects each Unknown once.
type findings struct {
	list []dump.Unknown
	seen map[dump.Unknown]bool
}

func (f *findings) add(u dump.Unknown) {
	key := u
	key.Path = ""
	if f.seen[key] {
		return
	}
	if f.seen == nil {
		f.seen = map[dump.Unknown]bool{}
	}
	f.seen[key] = true
	f.list = append(f.list, u)
}
