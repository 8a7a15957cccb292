// Command architecture draws the rooms of the project, the imports between them, and what
// each room guarantees, as the picture of docs/architecture.md. Run it in any folder of
// the module:
//
//	go run ./internal/architecture
//
// It takes what a room guarantees from the comment of the room's package. Its tests hold
// the committed picture against what it draws.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const pictureFile = "docs/architecture.svg"

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
	return os.WriteFile(filepath.Join(root, pictureFile), []byte(house.picture()), 0o644)
}
