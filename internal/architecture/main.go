// Command architecture draws the rooms of the project and the imports between them,
// and writes the table of what each room guarantees. Run it in any folder of the
// module:
//
//	go run ./internal/architecture
//
// It guarantees that the page shows the imports and the package comments as they are:
// a test holds the committed files against what this command writes. What a room is
// for, it takes from the room's package comment.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	pictureFile = "docs/architecture.svg"
	pageFile    = "docs/architecture.md"
	tableBegins = "<!-- rooms -->\n"
	tableEnds   = "<!-- /rooms -->\n"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "architecture:", err)
		os.Exit(1)
	}
}

func write() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	house, err := readHouse(root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, pictureFile), []byte(house.picture()), 0o644); err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		return err
	}
	text, err := withTable(string(page), house.table())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, pageFile), []byte(text), 0o644)
}

// withTable returns the page with the table between its two marks.
func withTable(page, table string) (string, error) {
	head, rest, begins := strings.Cut(page, tableBegins)
	_, tail, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", fmt.Errorf("%s has no place for the table: write %s and %s on lines of their own", pageFile, strings.TrimSpace(tableBegins), strings.TrimSpace(tableEnds))
	}
	return head + tableBegins + table + tableEnds + tail, nil
}
