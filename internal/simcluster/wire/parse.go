package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// parser takes the parts of a message off its bytes and keeps the first error.
type parser struct {
	rest []byte
	err  error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = nil
}

// take splits n bytes off; less than that is an error.
func (p *parser) take(n int) []byte {
	if n < 0 || n > len(p.rest) {
		p.fail("%d bytes are wanted where %d are left", n, len(p.rest))
		return nil
	}
	part := p.rest[:n]
	p.rest = p.rest[n:]
	return part
}

// number reads an int32, 0 after an error.
func (p *parser) number() (n int32) {
	if part := p.take(4); p.err == nil {
		n = int32(binary.LittleEndian.Uint32(part))
	}
	return n
}

// text reads a string that ends with a zero byte.
func (p *parser) text() string {
	return string(bytes.TrimSuffix(p.take(bytes.IndexByte(p.rest, 0)+1), []byte{0}))
}

// document reads a document. Its capacity is limited, so that appending cannot overwrite the next one.
func (p *parser) document() bson.Raw {
	size, ok := documentSize(p.rest)
	if !ok {
		p.fail("document of impossible length")
		return nil
	}
	doc := bson.Raw(p.take(size)[:size:size])
	if err := Validate(doc); err != nil {
		p.fail("%w", err)
	}
	return doc
}

// message reads the flags and sections of an OP_MSG. A checksum is not verified: the transport does that.
func (p *parser) message(m *Message) {
	m.Flags = Flags(p.number())
	if m.Flags&0xFFFF&^(ChecksumPresent|MoreToCome) != 0 {
		p.fail("illegal flags %b", m.Flags)
	}
	if m.Flags&ChecksumPresent != 0 {
		p.rest = p.take(len(p.rest) - 4)
	}
	for len(p.rest) > 0 {
		switch kind := p.take(1)[0]; {
		case kind == 0 && m.Body == nil:
			m.Body = p.document()
		case kind == 1:
			p.sequence(m)
		default:
			p.fail("section of kind %d", kind)
		}
	}
	if m.Body == nil {
		p.fail("a message has a body")
	}
}

func (p *parser) sequence(m *Message) {
	inner := parser{rest: p.take(int(p.number()) - 4)}
	name, docs := inner.text(), []bson.Raw{}
	for len(inner.rest) > 0 {
		if len(docs) == MaxBatch {
			inner.fail("document sequence %s holds more than %d documents", name, MaxBatch)
		} else {
			docs = append(docs, inner.document())
		}
	}
	if inner.err != nil {
		p.fail("document sequence: %w", inner.err)
	}
	if m.Sequences == nil {
		m.Sequences = make(map[string][]bson.Raw, 1)
	}
	m.Sequences[name] = docs
}

// query reads a legacy OP_QUERY: flags, collection name, skip, limit and query. A field selector after them is not for
// commands.
func (p *parser) query(m *Message) {
	p.take(4)
	m.Collection = p.text()
	p.take(8)
	m.Body = p.document()
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
