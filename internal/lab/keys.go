package lab

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/token"
)

// mostKeys bounds the file of a key set.
const mostKeys = 1 << 20

// ReadKeys reads the key set of each issuer from its file.
func ReadKeys(files map[string]string) (token.Keys, error) {
	out := token.Keys{}
	for issuer, file := range files {
		text, err := folder.ReadUpTo(file, mostKeys)
		if err != nil {
			return nil, err
		}
		if out[issuer], err = token.KeysOf(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return out, nil
}
