package main

import (
	"regexp"
	"strings"
)

func regexpQuote(s string) string { return regexp.QuoteMeta(s) }

// quote makes one word of s for a POSIX shell.
func quote(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-") == "" && s != ""
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
