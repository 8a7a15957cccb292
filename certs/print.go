package certs

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// String names the URI SANs, quoted, and the serial number in hexadecimal.
func (c *Credential) String() string {
	return fmt.Sprintf("credential %q serial %s", c.uris, c.serial)
}

// GoString implements [fmt.GoStringer] for printers that prefer it; it is the same text as String, quoted.
func (c *Credential) GoString() string { return fmt.Sprintf("%#v", c.String()) }

// Format implements [fmt.Formatter]: every verb and flag applies to the text of String.
func (c *Credential) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), c.String())
}

// LogValue implements [slog.LogValuer] with the attributes uris and serial.
func (c *Credential) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("uris", c.URIs()), slog.String("serial", c.serial))
}

// MarshalJSON implements [json.Marshaler] with the members uris and serial. Bytes of a URI that are not UTF-8 are
// replaced, as encoding/json does.
func (c *Credential) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		URIs   []string `json:"uris"`
		Serial string   `json:"serial"`
	}{c.uris, c.serial})
}

// MarshalText implements [encoding.TextMarshaler] with the text of String.
func (c *Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
