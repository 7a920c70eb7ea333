package history

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
)

// The first byte of a stored body says how the rest is encoded.
const (
	plain    = 0
	deflated = 1
)

// maxBody bounds the unpacked size of a body: a million chunks take some 30 MB.
const maxBody = 256 << 20

// pack compresses bodies that are large enough for it to pay.
func pack(b []byte) []byte {
	if len(b) < 200 {
		return append([]byte{plain}, b...)
	}
	out := bytes.NewBuffer([]byte{deflated})
	w, err := flate.NewWriter(out, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is constant
	}
	_, _ = w.Write(b) // a bytes.Buffer does not fail
	_ = w.Close()
	return out.Bytes()
}

func unpack(b []byte) ([]byte, error) {
	switch {
	case len(b) == 0:
		return nil, fmt.Errorf("unpack: %w", errShort)
	case b[0] == plain:
		return b[1:], nil
	case b[0] != deflated:
		return nil, fmt.Errorf("unpack: body of kind %d", b[0])
	}
	r := flate.NewReader(bytes.NewReader(b[1:]))
	defer r.Close()
	out, err := io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return out, nil
}
