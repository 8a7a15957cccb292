// Package dump gathers what one Envoy was configured with, as [Resources]: out of the
// configuration dump of its admin interface ([Parse]), out of files ([Folder]), or from its
// control plane over ADS ([Fetch]).
//
// It guarantees that each part of the input is in the resources, is harmless, or is an
// [Unknown]. Bad input is an error or an Unknown, never a panic. It keeps no resource that
// has nothing to do with inbounds, and it does not know what a resource means: package
// sidecar reads the inbounds out of them.
package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	input "github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/messages"
)

// Parse takes the configuration dump of an Envoy's admin interface, as /config_dump
// prints it, whole or with a query such as ?include_eds or
// ?resource=dynamic_listeners. It also takes what a file of [Folder] may hold, and a list of such
// values, as a dump and the answer to /runtime.
//
// Listeners are taken in their active state. Where another version of a listener warms,
// drains or was refused, an [Unknown] names it.
//
// A part of a dump, such as the answer to ?resource=dynamic_listeners, counts as a dump that lacks the others.
//
// It returns an error for input that is no JSON, for more than [messages.MaxSize] bytes,
// and for JSON without anything that it can read.
func Parse(data []byte) (*Resources, error) {
	r := &Resources{}
	tree, err := messages.Parse(data)
	if _, isSyntax := errors.AsType[*json.SyntaxError](err); isSyntax || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %s", err, hint)
	}
	if err == nil {
		err = r.add(tree, "")
	}
	if err == nil && r.isRuntimeAlone() {
		err = errRuntimeAlone
	}
	if err != nil {
		return nil, fmt.Errorf("read dump: %w", err)
	}
	r.complete()
	return r, nil
}

const (
	hint    = "give it the output of Envoy's /config_dump"
	hintAny = "give it the output of Envoy's /config_dump or /runtime"
)

// errForeign is for JSON of an unknown form.
var errForeign = errors.New("it is neither a configuration dump, nor a listener, nor typed RBAC filters: " + hint)

// errComputed is for what Kuma's control plane computes for a sidecar: Envoy may have something else.
var errComputed = errors.New("it is what the control plane of Kuma computes, and not what Envoy has: take the dump by kumactl inspect dataplane --type=config-dump")

// errRuntimeAlone is for the answer to /runtime without the configuration.
var errRuntimeAlone = errors.New("it is the answer to /runtime alone, which has no listener: give the output of Envoy's /config_dump beside it, both in one folder")

// isRuntimeAlone reports whether the answer to /runtime is all that was given.
func (r *Resources) isRuntimeAlone() bool {
	return r.isRuntimeShown && !r.IsDump && r.bootstrap == nil && len(r.Listeners)+len(r.Unattached)+len(r.Routes)+len(r.Extensions)+len(r.Clusters) == 0
}

// add takes resources from JSON. Filters without a listener are named after the file.
func (r *Resources) add(tree any, file string) error {
	switch tree := tree.(type) {
	case []any:
		return r.addAll(tree, file)
	case object:
		return r.addObject(tree, file)
	default:
		return errForeign
	}
}

// addAll takes an array: the filters of one inbound, in order, or other values.
func (r *Resources) addAll(list []any, file string) error {
	filters, authorizes := len(list) > 0, false
	for _, item := range list {
		o, _ := item.(object)
		if _, inner := unwrap(item); inner != nil {
			o = inner
		} else {
			filters = filters && messages.Authorizes(typeOf(o))
		}
		authorizes = authorizes || messages.Authorizes(typeOf(o))
	}
	if filters && authorizes {
		r.addFilters(Unattached{File: file}, list)
		return nil
	}
	if len(list) == 0 {
		return errors.New("it is an empty array")
	}
	for i, item := range list {
		o, ok := item.(object)
		if !ok {
			return errForeign
		}
		if err := r.addObject(o, file); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

func (r *Resources) addObject(o object, file string) error {
	if configs, ok := get(o, "configs").([]any); ok {
		r.IsDump = true
		r.checkParts(o, configDump)
		r.addConfigs(configs)
		return nil
	}
	message := typeOf(o)
	_, inner := unwrap(o)
	switch {
	case messages.Authorizes(typeOf(inner)):
		r.addFilters(Unattached{File: file}, []any{o})
		return nil
	case messages.Authorizes(message):
		r.addFilters(Unattached{File: file}, []any{o})
		return nil
	case message != "":
		return r.addTyped(o, message)
	case get(o, "xds") != nil:
		return errComputed
	case get(o, "layers") != nil && get(o, "entries") != nil:
		r.addRuntimeAnswer(o)
		return nil
	case get(o, "filters") != nil && get(o, "inbound") != nil:
		// One entry of what `meshproof compile --output json` prints.
		r.checkEntry(getString(o, "inbound"), file, o, "case", "inbound", "protocol", "filters")
		if _, ok := get(o, "filters").([]any); !ok {
			return errForeign
		}
		r.addFilters(Unattached{File: file, Inbound: getString(o, "inbound"), Protocol: getString(o, "protocol")}, getList(o, "filters"))
		return nil
	case get(o, "address") != nil || get(o, "filter_chains") != nil:
		r.addListener(o, getString(o, "name"))
		return nil
	default:
		return errForeign
	}
}

func typeOf(o object) string {
	url, _ := o["@type"].(string)
	return messages.Name(url)
}

// Folder takes all files *.json below a folder, in the order of their names. An [Unknown] names each other file. Each
// holds a configuration dump, a listener, a route configuration or an extension
// configuration with its @type, an RBAC filter with its @type or with its name and its
// typed_config, an array of such filters (the filters of one inbound, in order; with names,
// other filters may stand among them), what `meshproof compile --output json` prints, or what the
// admin endpoint /runtime answers.
//
// It returns an error with the name of a file that cannot be read or holds nothing of
// these, and an error for a folder without such files.
func Folder(dir fs.FS) (*Resources, error) {
	r := &Resources{}
	files := 0
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !strings.HasSuffix(name, ".json") {
			r.Unknown = append(r.Unknown, Unknown{Kind: Exposed, Reason: fmt.Sprintf("file %q is not read, because its name does not end in .json, and may hold a listener or a dump: take it out of the folder", name)})
			return nil
		}
		files++
		if err := r.addFile(dir, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("it has no file *.json, such as the answer to /config_dump: %w", fs.ErrNotExist)
	}
	if err == nil && r.isRuntimeAlone() {
		err = errRuntimeAlone
	}
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	r.complete()
	return r, nil
}

func (r *Resources) addFile(dir fs.FS, name string) error {
	info, err := fs.Stat(dir, name)
	if err != nil {
		return err
	}
	if err := input.CheckRegular(info, messages.MaxSize); err != nil {
		return err
	}
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	tree, err := messages.Parse(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return fmt.Errorf("%w: %s, or take it out of the folder", err, hintAny)
	}
	return r.add(tree, name)
}
