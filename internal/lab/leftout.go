package lab

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

// passOver adds what of a folder is not read.
func (f *Files) passOver(path string) error {
	found, err := folder.PassedOver(path)
	if err != nil {
		return err
	}
	f.PassedOver = append(f.PassedOver, found...)
	if path == folder.Stdin {
		return nil
	}
	sources, err := folder.Sources(path, severalWords(kinds.Known()))
	if err != nil {
		return err
	}
	f.Sources = append(f.Sources, sources...)
	withoutFiles, err := folder.WithoutFiles(path)
	if err != nil {
		return err
	}
	f.WithoutFiles = append(f.WithoutFiles, withoutFiles...)
	ofTools, err := folder.ToolFiles(path)
	for _, name := range ofTools {
		f.OfTools = append(f.OfTools, filepath.Join(path, name))
	}
	return err
}

// severalWords returns the kinds of several words, such as PeerAuthentication: a program that says Server may mean anything.
func severalWords(kinds []string) []string {
	return slices.DeleteFunc(kinds, func(kind string) bool { return strings.IndexFunc(kind[1:], unicode.IsUpper) < 0 })
}

// leftOut counts what is not read; "" for nothing.
func (f *Files) leftOut() string {
	text := f.Others.String()
	if len(f.ofOthers) > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, %s by --dialect, though a request has to pass them too", text, f.ofOthers), ", ")
	}
	if n := len(f.PassedOver); n > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, %s by the name (%s)", text, terminal.Count(n, "file"), strings.Join(f.PassedOver[:min(n, 3)], ", ")), ", ")
	}
	if n := len(f.Sources); n > 0 {
		var names []string
		for _, source := range f.Sources[:min(n, 3)] {
			names = append(names, source.Name)
		}
		text = strings.TrimPrefix(fmt.Sprintf("%s, %s of which a tool may make manifests (%s)", text, terminal.Count(n, "file"), strings.Join(names, ", ")), ", ")
	}
	if n := len(f.WithoutFiles); n > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, %s without files (%s)", text, terminal.Count(n, "folder"), strings.Join(f.WithoutFiles[:min(n, 3)], ", ")), ", ")
	}
	return text
}

// LeaveOut tells which documents are left out. Where it is strict they are an error.
func LeaveOut(told io.Writer, strict bool, all ...*Files) error {
	for _, f := range all {
		out := f.leftOut()
		if strict && len(f.Others) > 0 {
			advice := "name the files with policies alone"
			if len(podtemplate.Templates(f.Others)) > 0 {
				advice += ", and run meshproof lint on all files, which holds the policies against these workloads"
			}
			return fmt.Errorf("%w\n%s: --strict refuses to leave %s out: %s", f.Others.Refusals(), f.Name, out, advice)
		}
		if strict && len(f.OfTools) > 0 {
			return fmt.Errorf("%s: --strict refuses %s: a tool may leave policies out by it, or change them: write out what is applied", f.Name, strings.Join(f.OfTools, ", "))
		}
		if strict && len(f.Sources) > 0 {
			return fmt.Errorf("%s: --strict refuses to leave %s out: write out what is applied, and keep the rest out of the folder", f.Name, out)
		}
		if strict && len(f.PassedOver) > 0 {
			return fmt.Errorf("%s: --strict refuses to leave %s out: end their names in .yaml, .yml or .json, and name folders behind links by themselves", f.Name, out)
		}
		if strict && len(f.WithoutFiles) > 0 {
			return fmt.Errorf("%s: --strict refuses %s: it may be a module of Git that is not checked out: check it out, or delete the folder", f.Name, out)
		}
		if out != "" {
			fmt.Fprintf(told, "meshproof: note: %s: left out: %s\n", f.Name, terminal.Printable(out))
		}
		if all := slices.DeleteFunc(slices.Clone(f.Others), func(d manifest.Document) bool { return !rendering.IsKustomization(d) }); len(all) > 0 {
			more := ""
			if len(all) > 1 {
				more = fmt.Sprintf(", and %d more like it,", len(all)-1)
			}
			fmt.Fprintf(told, "meshproof: note: %s: this kustomization%s is not carried out: write out with kustomize build what is applied\n", all[0].Place(""), more)
		}
	}
	return nil
}
