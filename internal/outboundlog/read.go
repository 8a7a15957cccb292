package outboundlog

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
)

// Read gives the entries of a message to a function, one after the other. The error of an entry
// says why it cannot be read.
func Read(data *logsv1.LogsData, entries func(Entry, error)) {
	for _, resource := range data.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			for _, record := range scope.GetLogRecords() {
				entries(read(record))
			}
		}
	}
}

func key(column int) string { return strconv.Itoa(column) }

func read(record *logsv1.LogRecord) (Entry, error) {
	texts := make(map[string]string, len(columns))
	for _, attribute := range record.GetAttributes() {
		texts[attribute.GetKey()] = attribute.GetValue().GetStringValue()
	}
	var e Entry
	for i, column := range columns {
		text, ok := texts[key(i)]
		if !ok {
			return e, fmt.Errorf("outbound access log: an entry has no %s", column.format)
		}
		// Envoy writes this where there is nothing.
		if text == "-" {
			text = ""
		}
		if err := column.read(&e, text); err != nil {
			return e, fmt.Errorf("outbound access log: %s is %q: %w", column.format, text, err)
		}
	}
	return e, nil
}

func address(field func(*Entry) *netip.AddrPort) func(*Entry, string) error {
	return func(e *Entry, text string) (err error) {
		*field(e), err = netip.ParseAddrPort(text)
		return err
	}
}

func text(field func(*Entry) *string) func(*Entry, string) error {
	return func(e *Entry, text string) error {
		*field(e) = text
		return nil
	}
}

func list(field func(*Entry) *[]string) func(*Entry, string) error {
	return func(e *Entry, text string) error {
		if text != "" {
			*field(e) = strings.Split(text, ",")
		}
		return nil
	}
}

func wholeNumber(set func(*Entry, uint64)) func(*Entry, string) error {
	return func(e *Entry, text string) error {
		if text == "" {
			return nil
		}
		n, err := strconv.ParseUint(text, 10, 64)
		set(e, n)
		return err
	}
}

func began(e *Entry, text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	whole, part := math.Modf(seconds)
	e.Began = time.Unix(int64(whole), int64(part*1e9)).Round(time.Microsecond)
	return err
}

func duration(e *Entry, text string) error {
	ms, err := strconv.ParseUint(text, 10, 32)
	e.Duration = time.Duration(ms) * time.Millisecond
	return err
}

// cluster reads a name of the program behind the prefix of its sidecar, which ends in the first
// slash.
func cluster(e *Entry, text string) error {
	_, e.Cluster, _ = strings.Cut(text, "/")
	return nil
}

// endpoint reads an internal address, such as envoy://relay/name, or one of a socket.
func endpoint(e *Entry, text string) error {
	e.Endpoint = text
	if internal, ok := strings.CutPrefix(text, "envoy://"); ok {
		if _, e.Endpoint, ok = strings.Cut(internal, "/"); !ok {
			return errors.New("it has no name of an endpoint")
		}
	}
	return nil
}
