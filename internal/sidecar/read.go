package sidecar

import (
	"context"
	"fmt"
	"io/fs"
	"net/netip"

	"github.com/meshproof/meshproof/internal/dump"
)

// Dump reads a configuration dump, as [dump.Parse] takes it. The resources that a listener
// refers to, by RDS, scoped RDS or extension configuration discovery, are looked up in the
// dump.
//
// It returns the errors of dump.Parse.
func Dump(data []byte) (Sidecar, error) {
	return readAll(dump.Parse(data))
}

// Folder reads all files of a folder, as [dump.Folder] takes them. Listeners find what they
// refer to in any of the files. Filters without a listener become an inbound whose listener
// is the file's name and whose transport is not known.
//
// It returns the errors of dump.Folder.
func Folder(dir fs.FS) (Sidecar, error) {
	return readAll(dump.Folder(dir))
}

func readAll(r *dump.Resources, err error) (Sidecar, error) {
	if err != nil {
		return Sidecar{}, fmt.Errorf("sidecar: %w", err)
	}
	s, _ := read(r, nil)
	return s, nil
}

// WithAddresses reads the sidecar again, for a machine of which more addresses are known than the sidecar says: what leads to them leads to its
// inbounds, or to its workload.
func (s Sidecar) WithAddresses(addresses []netip.Addr) Sidecar {
	if s.resources == nil || len(addresses) == 0 {
		return s
	}
	again, _ := read(s.resources, addresses)
	return again
}

// Fetch reads what a control plane has for one proxy, as [dump.Fetch] asks for it: the
// listeners, and the route and extension configurations that its inbounds refer to.
//
// It returns the errors of dump.Fetch.
func Fetch(ctx context.Context, target string, o dump.FetchOptions) (Sidecar, error) {
	var s Sidecar
	err := dump.Fetch(ctx, target, o, func(r *dump.Resources) (refers dump.References) {
		s, refers = read(r, nil)
		return refers
	})
	if err != nil {
		return Sidecar{}, fmt.Errorf("sidecar: %w", err)
	}
	return s, nil
}
