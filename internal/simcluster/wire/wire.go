// Package wire implements the MongoDB wire protocol: it reads messages from a byte
// stream and writes replies.
//
// It supports OP_MSG with body and document-sequence sections, and the legacy OP_QUERY,
// which drivers still send for their first hello, with its answer OP_REPLY. Anything
// else is an error, after which the start of the next message is unknown.
//
// For any input, reading never panics, allocates at most about twice the received
// bytes, and returns only well-formed BSON within the server's nesting limit. Other
// packages can therefore read documents without checking them again.
package wire

import (
	"encoding/binary"
	"fmt"
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

// The opcodes that are read, and the one that answers OpQuery. hello offers no
// compressor, so clients must not send compressed messages.
const (
	OpReply OpCode = 1
	OpQuery OpCode = 2004
	OpMsg   OpCode = 2013
)

// Flags are the flag bits of an OP_MSG.
type Flags uint32

// Flag bits. A bit among the lower sixteen that is not listed here makes a
// message unreadable; unknown upper bits are ignored, as the specification asks.
const (
	ChecksumPresent Flags = 1 << 0
	MoreToCome      Flags = 1 << 1
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

// Read takes one message from r. At a clean end between two messages it returns
// io.EOF; an end inside a message is io.ErrUnexpectedEOF.
func Read(r io.Reader) (*Message, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := int32(binary.LittleEndian.Uint32(head[0:]))
	if size < headerSize || size > MaxMessage {
		return nil, fmt.Errorf("message length %d is not within %d and %d", size, headerSize, MaxMessage)
	}
	m := &Message{
		RequestID: int32(binary.LittleEndian.Uint32(head[4:])),
		OpCode:    OpCode(binary.LittleEndian.Uint32(head[12:])),
	}
	payload, err := readBounded(r, int(size)-headerSize)
	if err != nil {
		return nil, err
	}
	p := &parser{rest: payload}
	switch m.OpCode {
	case OpMsg:
		p.message(m)
	case OpQuery:
		p.query(m)
	default:
		p.fail("opcode %d is not supported", m.OpCode)
	}
	return m, p.err
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

// AppendMsg appends an OP_MSG reply with one body section.
func AppendMsg(dst []byte, requestID, responseTo int32, body bson.Raw) []byte {
	dst = appendHeader(dst, headerSize+4+1+len(body), requestID, responseTo, OpMsg)
	dst = append(dst, 0, 0, 0, 0, 0) // no flags, and the kind of the section
	return append(dst, body...)
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
