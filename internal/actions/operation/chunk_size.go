package operation

import (
	"strconv"
	"strings"
)

// MaxChunkMB is the largest chunk size that servers accept, in MB.
const MaxChunkMB = 1024

// PreviousChunkSize is the chunk size in MB that a step of OpChunkSize replaces; false if
// no command can set it.
func (s Step) PreviousChunkSize() (mb int, ok bool) {
	for _, f := range s.Needs {
		if text, there := f.Want["chunkSize"]; there {
			return chunkMB(text)
		}
	}
	return 0, false
}

const defaultChunkSize = "default"

// chunkSizeText is the chunk size of a collection as a field of FactCollection.
func chunkSizeText(bytes int64) string {
	switch {
	case bytes == 0:
		return defaultChunkSize
	case bytes%(1<<20) == 0:
		return strconv.FormatInt(bytes>>20, 10) + " MiB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// chunkMB reads chunkSizeText; false if it is not a whole number of MB from 1 to 1024.
func chunkMB(text string) (mb int, ok bool) {
	if text == defaultChunkSize {
		return 0, true
	}
	n, mib := strings.CutSuffix(text, " MiB")
	mb, err := strconv.Atoi(n)
	return mb, mib && err == nil && mb > 0 && mb <= MaxChunkMB
}
