package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// parseMsg reads the flags and sections of an OP_MSG. head is needed because the
// checksum covers the header too.
func (m *Message) parseMsg(head, p []byte) *ProtocolError {
	if len(p) < 4 {
		return malformed(codeProtocolError, "message ends before its flags")
	}
	m.Flags = Flags(binary.LittleEndian.Uint32(p))
	if unknown := m.Flags & 0xFFFF &^ (ChecksumPresent | MoreToCome); unknown != 0 {
		return malformed(codeIllegalFlags, "Message contains illegal flags value: Ob%b", uint32(m.Flags))
	}
	if m.Flags&ChecksumPresent != 0 {
		if len(p) < 8 {
			return malformed(codeProtocolError, "message ends before its checksum")
		}
		end := len(p) - 4
		sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, p[:end])
		if sum != binary.LittleEndian.Uint32(p[end:]) {
			return malformed(codeChecksumMismatch, "OP_MSG checksum does not match contents")
		}
		p = p[:end]
	}
	for p = p[4:]; len(p) > 0; {
		kind := p[0]
		p = p[1:]
		var err *ProtocolError
		switch kind {
		case 0:
			p, err = m.parseBody(p)
		case 1:
			p, err = m.parseSequence(p)
		default:
			err = malformed(codeUnknownKind, "Unknown section kind %d", kind)
		}
		if err != nil {
			return err
		}
	}
	if m.Body == nil {
		return malformed(codeMissingBody, "OP_MSG messages must have a body")
	}
	for name := range m.Sequences {
		if _, err := m.Body.LookupErr(name); err == nil {
			return malformed(codeNameInBody, "Duplicate field between body and document sequence %s", name)
		}
	}
	return nil
}

func (m *Message) parseBody(p []byte) ([]byte, *ProtocolError) {
	if m.Body != nil {
		return nil, malformed(codeDuplicateBody, "Multiple body sections in message")
	}
	doc, rest, err := takeDocument(p)
	m.Body = doc
	return rest, err
}

func (m *Message) parseSequence(p []byte) ([]byte, *ProtocolError) {
	if len(p) < 4 {
		return nil, malformed(codeOverflow, "document sequence ends before its size")
	}
	size := int64(int32(binary.LittleEndian.Uint32(p)))
	if size < 5 || size > int64(len(p)) {
		return nil, malformed(codeOverflow, "document sequence of %d bytes in %d", size, len(p))
	}
	section, rest := p[4:size], p[size:]
	end := bytes.IndexByte(section, 0)
	if end < 0 {
		return nil, malformed(codeOverflow, "document sequence name is not terminated")
	}
	name := string(section[:end])
	if _, twice := m.Sequences[name]; twice {
		return nil, malformed(codeDuplicateName, "Duplicate document sequence: %s", name)
	}
	docs := []bson.Raw{}
	for section = section[end+1:]; len(section) > 0; {
		if len(docs) == MaxBatch {
			return nil, malformed(codeInvalidLength, "document sequence %s holds more than %d documents", name, MaxBatch)
		}
		doc, after, err := takeDocument(section)
		if err != nil {
			return nil, err
		}
		docs, section = append(docs, doc), after
	}
	if m.Sequences == nil {
		m.Sequences = make(map[string][]bson.Raw, 1)
	}
	m.Sequences[name] = docs
	return rest, nil
}

// parseQuery reads a legacy OP_QUERY: flags, collection name, skip, limit, query
// and maybe a field selector, which a command does not use.
func (m *Message) parseQuery(p []byte) *ProtocolError {
	if len(p) < 4 {
		return malformed(codeProtocolError, "query ends before its flags")
	}
	p = p[4:]
	end := bytes.IndexByte(p, 0)
	if end < 0 || len(p) < end+1+8 {
		return malformed(codeProtocolError, "query ends before its collection name")
	}
	m.Collection = string(p[:end])
	doc, rest, err := takeDocument(p[end+1+8:])
	if err != nil {
		return err
	}
	m.Body = doc
	if len(rest) > 0 {
		if _, rest, err = takeDocument(rest); err != nil {
			return err
		}
		if len(rest) > 0 {
			return malformed(codeProtocolError, "%d bytes after the end of the query", len(rest))
		}
	}
	return nil
}

// takeDocument splits one validated document off p. Its capacity is limited, so that
// appending cannot overwrite the next one.
func takeDocument(p []byte) (bson.Raw, []byte, *ProtocolError) {
	size, ok := documentSize(p)
	if !ok {
		return nil, nil, malformed(codeInvalidBSON, "document of impossible length")
	}
	doc := bson.Raw(p[:size:size])
	if err := Validate(doc); err != nil {
		return nil, nil, malformed(codeInvalidBSON, "%s", err.Error())
	}
	return doc, p[size:], nil
}

// MaxDepth is how deep documents and arrays may be nested. It is the server's limit
// (bson/bson_depth.h) and limits recursion.
const MaxDepth = 200

// Validate reports the first fault of a document: wrong lengths, missing
// terminators, unknown types, nesting beyond MaxDepth. It does not check that strings are UTF-8, nor does the server.
func Validate(doc bson.Raw) error {
	if size, ok := documentSize(doc); !ok || size != len(doc) {
		return errors.New("BSON document has a wrong length")
	}
	if err := checkDepth(doc, 1); err != nil { // before the driver's check, which is recursive
		return err
	}
	return doc.Validate()
}

// documentSize reads the length prefix of a document and whether p can hold it.
func documentSize(p []byte) (int, bool) {
	if len(p) < 5 {
		return 0, false
	}
	size := int64(int32(binary.LittleEndian.Uint32(p)))
	if size < 5 || size > int64(len(p)) || p[size-1] != 0 {
		return 0, false
	}
	return int(size), true
}

func checkDepth(doc bson.Raw, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("BSON document is nested deeper than %d levels", MaxDepth)
	}
	for r := value.Read(doc); r.Next(); {
		inner := bson.Raw(r.Value.Value)
		switch r.Value.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
		case bson.TypeCodeWithScope:
			_, inner, _ = r.Value.CodeWithScopeOK()
		default:
			continue
		}
		if err := checkDepth(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}
