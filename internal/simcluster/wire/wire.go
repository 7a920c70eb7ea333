// Package wire implements the MongoDB wire protocol: it reads messages from a byte
// stream and writes replies.
//
// It supports OP_MSG with body and document-sequence sections, and the legacy OP_QUERY,
// which drivers still send for their first hello, with its answer OP_REPLY. Anything
// else is a ProtocolError.
//
// For any input, reading never panics, allocates at most about twice the received
// bytes, and returns only well-formed BSON within the server's nesting limit. Other
// packages can therefore read documents without checking them again.
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

// OpCode is the type of a message.
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

// ProtocolError is the reason why a message cannot be read. The caller answers with
// Code and Reason if Answerable is true, and closes the connection, because the start
// of the next message is unknown.
type ProtocolError struct {
	Code   int32 // server error code, such as 40587
	Reason string
	// RequestID is the request to answer; meaningful only when Answerable.
	RequestID int32
	// Answerable means that the header was valid and the opcode OP_MSG, so that the client
	// can receive a reply.
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
			// hello offers no compressor, so clients must not send this.
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

// readBounded reads n bytes without allocating n in advance: the buffer grows with the
// received bytes, so that a header alone cannot cause a 48 MB allocation.
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

// AppendMsg appends an OP_MSG reply with one body section. With ChecksumPresent in
// flags the checksum follows; a server adds one if the request had one.
func AppendMsg(dst []byte, requestID, responseTo int32, flags Flags, body bson.Raw) []byte {
	start := len(dst)
	size := headerSize + 4 + 1 + len(body)
	if flags&ChecksumPresent != 0 {
		size += 4
	}
	dst = appendHeader(dst, size, requestID, responseTo, OpMsg)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(flags))
	dst = append(dst, 0)
	dst = append(dst, body...)
	if flags&ChecksumPresent != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	}
	return dst
}

// AppendReply appends an OP_REPLY with one document, the answer to an OP_QUERY
// that carried a command.
func AppendReply(dst []byte, requestID, responseTo int32, body bson.Raw) []byte {
	const awaitCapable = 8
	dst = appendHeader(dst, headerSize+20+len(body), requestID, responseTo, OpReply)
	dst = binary.LittleEndian.AppendUint32(dst, awaitCapable)
	dst = binary.LittleEndian.AppendUint64(dst, 0) // cursor id
	dst = binary.LittleEndian.AppendUint32(dst, 0) // starting from
	dst = binary.LittleEndian.AppendUint32(dst, 1) // number returned
	return append(dst, body...)
}

func appendHeader(dst []byte, size int, requestID, responseTo int32, op OpCode) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(requestID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(responseTo))
	return binary.LittleEndian.AppendUint32(dst, uint32(op))
}
