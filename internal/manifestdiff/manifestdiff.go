// Package manifestdiff compares what stands beside the policies on two sides: workloads, services, meshes,
// control planes, and what tools do with the policies. None of it is read as a policy.
//
// It guarantees that the world is closed: each difference in such a document is named, with its place and
// field, unless a table of this package says that it cannot matter. The tables are data: the kinds in
// package clusterobject, the fields in field.go, the labels and annotations in setting.go and tool.go.
package manifestdiff

import (
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Side is what one side has.
type Side struct {
	// Policies are read by a dialect, but for some of their metadata. Others are not read.
	Policies, Others []manifest.Document
	// Dataplanes are read in part.
	Dataplanes []manifest.Document
	// PassedOver are files that are not read because of their names.
	PassedOver []string
	// WithoutFiles are folders without a file, as paths in the folder.
	WithoutFiles []string
	// Files are the contents of the files of tools, by their paths in the folder.
	Files map[string]string
	// Sources are texts that stand for the contents of files of which a tool may make manifests, by their paths in the folder.
	Sources map[string]string
	// Texts are what these files say, by the same paths: "" for what is no text, and the beginning of a long one.
	Texts map[string]string
	// Options have the settings of meshes that an author states, by their keys in a case file, such as istio.rootNamespace.
	Options manifest.Document
	// Absent are the places where a kustomization leads out of the folder, each with what it names there.
	Absent []string
	// Root is the folder of the side, "" where it is none. Placed are the documents that stand in its files, and
	// in no case.
	Root   string
	Placed []manifest.Document
	// Links are the files of Placed that are symbolic links.
	Links []string
	// Uncompared are documents that are read, and that nothing else compares here.
	Uncompared []manifest.Document
	// Cases are the documents of case files, and Services the services that routes lead to.
	Cases, Services []manifest.Document
	// Released are the policies with parts that no release of their mesh has, and no policy of the first side.
	Released []Released
	// Unread has the files that are not read, by their paths in the folder, with a text that stands for
	// their content; "" where nothing does.
	Unread map[string]string
}

// folder is the side as a folder of which tools take manifests.
func (s Side) folder() delivery.Folder {
	return delivery.Folder{Root: s.Root, Placed: s.Placed, Policies: s.Policies, Others: s.Others, Files: s.Files}
}

// Change is one difference between two sides.
type Change struct {
	// Place is "file:line: field", of the second side where that has the field.
	Place string `json:"place"`
	// Object is the kind, the namespace and the name.
	Object string `json:"object"`
	// Effect says what has become of it, as in "has changed".
	Effect string `json:"effect"`
}

// String returns one line.
func (c Change) String() string { return c.Place + " (" + c.Object + ") " + c.Effect }

// changeOf is a change of a whole object.
func changeOf(o clusterobject.Object, effect string) Change {
	return Change{o.Doc.Place(""), o.String(), effect}
}

// The effects.
const (
	isNew     = "is new"
	isGone    = "is gone"
	isChanged = "has changed"
	isTwice   = "is there twice, and not alike"
	isAlone   = "is on one side alone"
)

// Changes returns what has changed from one side to the other. A workload that is gone lets nobody in, and
// is no change. A workload that is new is one where it opens something that was closed.
func Changes(old, recent Side) []Change { return newComparison(old, recent, false).changes() }

// Differences is [Changes] for two sides of which neither came first: what one side alone has counts
// alike, whichever side that is.
func Differences(a, b Side) []Change { return newComparison(a, b, true).changes() }
