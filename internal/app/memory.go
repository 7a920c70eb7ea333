package app

import (
	"os"

	"shardboard/internal/memory"
)

// ReadMemoryLimit reads a limit such as 512MiB; "" is the limit of the container, where there is one, and off none.
func ReadMemoryLimit(text string) (memory.Limit, error) {
	if text == "" {
		return memory.Container(os.DirFS("/")), nil
	}
	n, off, err := memory.Parse(text)
	if err != nil || off {
		return memory.Limit{}, err
	}
	return memory.Limit{Bytes: n, From: "--memory-limit"}, nil
}
