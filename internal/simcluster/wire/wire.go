// Package wire speaks the MongoDB wire protocol: it cuts a byte stream into
// messages and writes replies.
//
// It knows OP_MSG with body and document-sequence sections, and of the legacy
// opcodes only OP_QUERY, which drivers still send for their first hello, with
// its answer OP_REPLY. Everything else is refused with a ProtocolError.
//
// The promise: whatever bytes arrive, reading never panics, never allocates
// more than about twice what has arrived, and never hands out BSON that is not
// well-formed or is nested deeper than the server's own limit. Code behind this
// package can therefore walk documents without checking them again.
//
// Source: the MongoDB wire protocol and OP_MSG specifications, and
// src/mongo/rpc/op_msg.cpp of 5.0 for error codes.
package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxMessage is the largest message in bytes that a server takes, header
// included. It is what hello announces as maxMessageSizeBytes.
const MaxMessage = 48_000_000

// MaxBatch is how many documents one document sequence may hold, the
// maxWriteBatchSize of hello. Without it a message of empty documents would cost
// several times its own size in slice headers.
const MaxBatch = 100_000

// headerSize is the length of the fixed message header in bytes.
const headerSize = 16

// OpCode tells what a message holds.
type OpCode int32

// The opcodes that this package can name. Only OpQuery and OpMsg are read, only
// OpReply and OpMsg are written.
const (
	OpReply      OpCode = 1
	OpQuery      OpCode = 2004
	OpCompressed OpCode = 2012
	OpMsg        OpCode = 2013
)

// Flags are the flag bits of an OP_MSG.
type Flags uint32

// Flag bits. A bit among the lower sixteen that is not listed here makes a
// message unreadable; unknown upper bits are ignored, as the specification asks.
const (
	ChecksumPresent Flags = 1 << 0
	MoreToCome      Flags = 1 << 1
	ExhaustAllowed  Flags = 1 << 16
)

// Message is one request. Its byte slices belong to the message: the reader
// does not reuse the buffer, so documents may be kept.
type Message struct {
	RequestID int32
	OpCode    OpCode
	Flags     Flags // OP_MSG only

	// Body is the command document. For OP_QUERY it is the query.
	Body bson.Raw
	// Sequences holds the OP_MSG document sequences by name; nil without any.
	Sequences map[string][]bson.Raw

	// Collection is the full collection name of an OP_QUERY, such as
	// "admin.$cmd".
	Collection string
}

// ProtocolError says why a message can't be read. The stream can't be trusted
// after it: the caller may answer with Code and Reason when Answerable is true, and
// then closes the connection.
type ProtocolError struct {
	Code   int32 // server error code, such as 40587
	Reason string
	// RequestID is the request to answer; meaningful only when Answerable.
	RequestID int32
	// Answerable tells that the header was sound and the opcode OP_MSG, so that
	// a reply can reach the client.
	Answerable bool
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("wire: %s (%d)", e.Reason, e.Code) }

func malformed(code int32, format string, args ...any) *ProtocolError {
	return &ProtocolError{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// Server error codes of unreadable messages (base/error_codes.yml and the
// locations in rpc/op_msg.cpp).
const (
	codeInvalidBSON      = 22
	codeOverflow         = 15
	codeInvalidLength    = 16
	codeIllegalFlags     = 40429
	codeDuplicateBody    = 40430
	codeDuplicateName    = 40431
	codeUnknownKind      = 40432
	codeNameInBody       = 40433
	codeMissingBody      = 40587
	codeProtocolError    = 17
	codeChecksumMismatch = 288
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Read takes one message from r. At a clean end between two messages it returns
// io.EOF; an end inside a message is io.ErrUnexpectedEOF; what can't be
// understood is a *ProtocolError.
func Read(r io.Reader) (*Message, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := int32(binary.LittleEndian.Uint32(head[0:]))
	if size < headerSize || size > MaxMessage {
		return nil, malformed(codeProtocolError, "message length %d is not within %d and %d", size, headerSize, MaxMessage)
	}
	m := &Message{
		RequestID: int32(binary.LittleEndian.Uint32(head[4:])),
		OpCode:    OpCode(binary.LittleEndian.Uint32(head[12:])),
	}
	if m.OpCode != OpMsg && m.OpCode != OpQuery {
		if m.OpCode == OpCompressed {
			// hello announces no compressor, so nobody may send this.
			return nil, malformed(codeProtocolError, "compressed messages were not negotiated")
		}
		return nil, malformed(codeProtocolError, "opcode %d is not supported", m.OpCode)
	}
	payload, err := readBounded(r, int(size)-headerSize)
	if err != nil {
		return nil, err
	}
	if m.OpCode == OpQuery {
		if perr := m.parseQuery(payload); perr != nil {
			return nil, perr
		}
		return m, nil
	}
	if perr := m.parseMsg(head[:], payload); perr != nil {
		perr.RequestID, perr.Answerable = m.RequestID, true
		return nil, perr
	}
	return m, nil
}

// readBounded reads n bytes without trusting n: the buffer grows with what has
// really arrived, so that a header that claims 48 MB costs the sender 48 MB.
func readBounded(r io.Reader, n int) ([]byte, error) {
	const first = 64 << 10
	buf := make([]byte, min(n, first))
	for got := 0; ; {
		if _, err := io.ReadFull(r, buf[got:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if got = len(buf); got == n {
			return buf, nil
		}
		grown := make([]byte, min(n, 2*got))
		copy(grown, buf)
		buf = grown
	}
}
