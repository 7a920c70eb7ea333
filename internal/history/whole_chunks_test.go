package history

import (
	"slices"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

func TestWholeStatesAreWrittenAsListsOfRows(t *testing.T) {
	m := evenChunks(5000)
	flagged := m.At(17)
	flagged.Jumbo = true
	m, _ = m.Reflag([]topology.Chunk{flagged})
	body := packChunks(m)
	plainBody, err := unpack(body)
	must.Do(t, err)
	rows, err := decodeChunks(plainBody)
	if err != nil || !slices.Equal(rows, m.Delta(nil)) {
		t.Fatalf("%d rows, want %d; %v", len(rows), m.Len(), err)
	}
	back, err := unpackChunks(routing.Pattern("k#"), body)
	if err != nil || !back.Equal(m) {
		t.Fatalf("%d chunks, want %d; %v", back.Len(), m.Len(), err)
	}
	again, err := unpackChunks(routing.Pattern("k#"), pack(encodeChunks(rows)))
	if err != nil || !again.Equal(m) {
		t.Errorf("a body that was written as a list: %v", err)
	}
}

func TestDamagedWholeStatesAreErrors(t *testing.T) {
	good, err := unpack(packChunks(evenChunks(300)))
	must.Do(t, err)
	for i := 0; i < len(good); i += 3 {
		cut := append([]byte{plain}, good[:i]...)
		if _, err := unpackChunks(routing.Pattern("k#"), cut); err == nil {
			t.Fatalf("a body that ends after %d of %d bytes was read", i, len(good))
		}
		if i%7 != 0 {
			continue
		}
		changed := append([]byte{plain}, good...)
		changed[i+1] ^= 0xff
		_, _ = unpackChunks(routing.Pattern("k#"), changed) // any answer but a panic
	}
	for _, b := range [][]byte{nil, {deflated}, {7, 1, 2}} {
		if _, err := unpackChunks(routing.Pattern("k#"), b); err == nil {
			t.Errorf("%v was read", b)
		}
	}
}
