package main

import (
	"encoding/json"
	"io"
)

// encodeJSON prints the JSON form of a result, as --output json has it everywhere.
func encodeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
