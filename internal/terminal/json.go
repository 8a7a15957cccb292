package terminal

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON prints the JSON form of a result, indented and with <, > and & as they are.
func WriteJSON(w io.Writer, result any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

// MarshalJSON is [json.Marshal] with <, > and & as they are. It serves the MarshalJSON
// methods of results.
func MarshalJSON(form any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(form)
	return b.Bytes(), err
}
