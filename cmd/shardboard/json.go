package main

import (
	"encoding/json"
	"fmt"
	"io"

	"shardboard/internal/sanitize"
)

// printJSON writes a value for people and scripts: nothing in it moves a
// terminal's cursor, whoever named the things in it.
func printJSON[T any](w io.Writer, v T) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintln(w, sanitize.JSON(string(b)))
	return err
}
