package diff

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Keep writes the requests of all changes into two files of a folder, which it makes: old.yaml with what the
// old policies decide about them, and new.yaml with what the new ones do. Each runs as a case file. It notes
// each file, and each request that no file can state. Without a folder or a change it does nothing.
func (d *Difference) Keep(folder string, notes io.Writer) error {
	if folder == "" {
		return nil
	}
	var old, recent []cases.Case
	for _, c := range d.Cases {
		if c.changes() > 0 {
			was, is := Shown(c.Old, c.New, c.Comparisons)
			was.Name, is.Name = was.Name+" (old)", is.Name+" (new)"
			old, recent = append(old, was), append(recent, is)
		}
	}
	if d.Routes != nil {
		was, is, left, err := d.Routes.Cases()
		if err != nil {
			return err
		}
		old, recent = append(old, was...), append(recent, is...)
		for _, request := range left {
			fmt.Fprintf(notes, "meshproof: note: no case file states %s: its backends end it differently\n", request)
		}
	}
	for _, side := range []struct {
		file  string
		cases []cases.Case
	}{{"old.yaml", old}, {"new.yaml", recent}} {
		if len(side.cases) == 0 {
			continue
		}
		file := filepath.Join(folder, side.file)
		if err := keep(file, side.cases); err != nil {
			return err
		}
		fmt.Fprintf(notes, "meshproof: note: %s has %s\n", file, terminal.Count(len(side.cases), "case"))
	}
	return nil
}

// keep writes a case file and reads it back.
func keep(file string, all []cases.Case) error {
	var b strings.Builder
	for i, c := range all {
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(casewriter.YAML(c))
	}
	if _, err := cases.Parse(file, []byte(b.String())); err != nil {
		return fmt.Errorf("%s cannot hold what changes: %w", file, err)
	}
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(b.String()), 0o644)
	}
	if err != nil {
		return fmt.Errorf("%w: name a folder in which you may write", err)
	}
	return nil
}
