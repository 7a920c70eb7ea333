package main

import (
	"encoding/json"
	"fmt"
	"io"

	"shardboard/internal/sanitize"
)

// printJSON writes a value for people and scripts. Control characters are escaped, so that names in
// it cannot control a terminal.
func printJSON[T any](w io.Writer, v T) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintln(w, sanitize.JSON(string(b)))
	return err
}
