package main

import (
	"fmt"
	"os"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy/manifest"
)

// readFiles tells case files from policy files: a file whose first document has a
// case field is a case file. It returns the documents of all policy files, and the
// cases of each case file together.
func readFiles(paths []string) (policies []manifest.Document, caseFiles [][]cases.Case, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: name a case file, or a file with policies", err)
		}
		docs, err := manifest.Parse(path, data)
		if err != nil {
			return nil, nil, err
		}
		if len(docs) > 0 {
			if _, isCase := docs[0].At("case"); !isCase {
				policies = append(policies, docs...)
				continue
			}
		}
		read, err := cases.Parse(path, data)
		if err != nil {
			return nil, nil, err
		}
		caseFiles = append(caseFiles, read)
	}
	return policies, caseFiles, nil
}
