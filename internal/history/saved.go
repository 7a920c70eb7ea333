package history

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"shardboard/internal/topology"
)

// A saved table is the routing table as one file, so that a process which starts has something to show and reads from
// the cluster only what has changed: its chunks are columns as in memory, which a past table's are not. It begins with
// savedMagic, the time as of which it is and their checksum, so that the time can be written anew alone; then a length
// and JSON of savedHead, the same of a frame, the columns of each collection, and the checksum of all after the time.
const (
	savedMagic  = "shbdtbl1" // the last character is the version of the format
	savedHeader = len(savedMagic) + 8 + 4
)

// ErrNotSaved says that a file is no saved table: another version's, cut off or damaged.
var ErrNotSaved = errors.New("it is cut off, damaged or of another version")

// savedHead is what a saved table has besides the frame.
type savedHead struct {
	Chunks    int                              // of all collections
	FlagsRead map[topology.Namespace]time.Time // topology.Table.FlagsRead
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SavedStamp is how a saved table begins that is as of a time.
func SavedStamp(at time.Time) []byte {
	b := binary.LittleEndian.AppendUint64([]byte(savedMagic), uint64(at.UnixMilli()))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// SavedMark is different for tables that WriteSaved writes differently.
func SavedMark(t *topology.Table) (uint32, error) {
	b, err := encodeFrame(t)
	for _, c := range t.Collections {
		for _, n := range []uint32{c.Highest.Major, c.Highest.Minor, uint32(c.Chunks.Len()), uint32(c.Chunks.Jumbo())} {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
	}
	return crc32.Checksum(b, castagnoli), err
}

// WriteSaved writes a table as of a time, without sizes, disks and events.
func WriteSaved(w io.Writer, t *topology.Table, at time.Time) error {
	if _, err := w.Write(SavedStamp(at)); err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 256<<10)
	head := savedHead{FlagsRead: t.FlagsRead}
	for _, c := range t.Collections {
		head.Chunks += c.Chunks.Len()
	}
	h, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode saved table: %w", err)
	}
	f, err := encodeFrame(t)
	if err != nil {
		return err
	}
	for _, b := range [][]byte{h, f} {
		_, _ = out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b)))) // Flush has the error
		_, _ = out.Write(b)
	}
	for _, c := range t.Collections {
		if err := c.Chunks.WriteColumns(out); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// ReadSaved reads what WriteSaved wrote, of so many bytes. room is asked whether so many chunks fit into memory, before
// they are read. The error is ErrNotSaved, room's, or the reader's.
func ReadSaved(in io.Reader, size int64, room func(chunks int) error) (*topology.Table, error) {
	var stamp [savedHeader]byte
	if _, err := io.ReadFull(in, stamp[:]); err != nil {
		return nil, notSaved(err)
	}
	at := time.UnixMilli(int64(binary.LittleEndian.Uint64(stamp[len(savedMagic):])))
	left := size - int64(savedHeader) - 4
	if string(stamp[:]) != string(SavedStamp(at)) || left < 0 {
		return nil, ErrNotSaved
	}
	sum := crc32.New(castagnoli)
	r := bufio.NewReaderSize(io.TeeReader(io.LimitReader(in, left), sum), 256<<10)
	var head savedHead
	blob, err := savedBlob(r, &left)
	if err == nil {
		err = json.Unmarshal(blob, &head)
	}
	if err != nil {
		return nil, notSaved(err)
	}
	if err := room(head.Chunks); err != nil {
		return nil, err
	}
	t := &topology.Table{Loaded: true, Saved: at, FlagsRead: head.FlagsRead}
	if blob, err = savedBlob(r, &left); err != nil {
		return nil, notSaved(err)
	}
	metas, err := decodeFrame(blob, t)
	if err != nil {
		return nil, notSaved(err)
	}
	for _, m := range metas {
		chunks, err := topology.ReadColumns(r, &left, m.Key)
		if err != nil {
			return nil, notSaved(err)
		}
		t.Collections = append(t.Collections, &topology.Collection{Meta: m, Highest: chunks.Highest(), Chunks: chunks})
	}
	var end [4]byte
	if _, err := io.ReadFull(in, end[:]); err != nil || left != 0 || binary.LittleEndian.Uint32(end[:]) != sum.Sum32() {
		return nil, notSaved(err)
	}
	return t, nil
}

// savedBlob is a length and so many bytes.
func savedBlob(r io.Reader, left *int64) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(n[:]))
	if *left -= 4 + size; *left < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, size)
	_, err := io.ReadFull(r, b)
	return b, err
}

func notSaved(err error) error {
	if err == nil {
		return ErrNotSaved
	}
	return fmt.Errorf("%w (%w)", ErrNotSaved, err)
}
