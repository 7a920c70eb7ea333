package replay

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"iter"
	"os"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Lines reads a recording: gzipped Extended JSON, one document a line. It ends with the first error.
func Lines(path string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		plain, err := gzip.NewReader(file)
		if err != nil {
			yield(nil, fmt.Errorf("read %s: %w", path, err))
			return
		}
		lines := bufio.NewScanner(plain)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var doc bson.Raw
			if err := bson.UnmarshalExtJSON(lines.Bytes(), false, &doc); err != nil {
				yield(nil, fmt.Errorf("read %s: %.200s: %w", path, lines.Text(), err))
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("read %s: %w", path, err))
		}
	}
}
