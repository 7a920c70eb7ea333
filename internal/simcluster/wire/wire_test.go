package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func marshal(v any) bson.Raw { return must.Get(bson.Marshal(v)) }

// frame builds an OP_MSG from sections that are already encoded.
func frame(flags Flags, sections ...[]byte) []byte {
	payload := binary.LittleEndian.AppendUint32(nil, uint32(flags))
	payload = append(payload, bytes.Join(sections, nil)...)
	return append(appendHeader(nil, headerSize+len(payload), 7, 0, OpMsg), payload...)
}

func bodySection(doc bson.Raw) []byte { return append([]byte{0}, doc...) }

func sequenceSection(name string, docs ...bson.Raw) []byte {
	inner := append([]byte(name), 0)
	for _, d := range docs {
		inner = append(inner, d...)
	}
	out := binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(inner)+4))
	return append(out, inner...)
}

func legacyQuery(collection string, doc bson.Raw) []byte {
	p := append(make([]byte, 4), collection...)
	p = append(p, 0)
	p = append(p, make([]byte, 8)...)
	p = append(p, doc...)
	return append(appendHeader(nil, headerSize+len(p), 9, 0, OpQuery), p...)
}

func TestReadAcceptsBodyAndSequencesInAnyOrder(t *testing.T) {
	insert := marshal(bson.D{{Key: "insert", Value: "c"}, {Key: "$db", Value: "d"}})
	docs := []bson.Raw{marshal(bson.D{{Key: "_id", Value: 1}}), marshal(bson.D{{Key: "_id", Value: 2}})}
	for _, in := range [][]byte{
		frame(MoreToCome, bodySection(insert), sequenceSection("documents", docs...)),
		frame(MoreToCome, sequenceSection("documents", docs...), bodySection(insert)),
	} {
		m, err := Read(bytes.NewReader(in))
		must.Do(t, err)
		if m.RequestID != 7 || m.OpCode != OpMsg || m.Flags != MoreToCome || !bytes.Equal(m.Body, insert) {
			t.Fatalf("read %+v", m)
		}
		if got := m.Sequences["documents"]; len(got) != 2 || !bytes.Equal(got[1], docs[1]) {
			t.Fatalf("sequence %v", got)
		}
	}
}

func TestReadAcceptsTheLegacyHello(t *testing.T) {
	hello := marshal(bson.D{{Key: "isMaster", Value: 1}})
	m, err := Read(bytes.NewReader(legacyQuery("admin.$cmd", hello)))
	if err != nil || m.OpCode != OpQuery || m.Collection != "admin.$cmd" || !bytes.Equal(m.Body, hello) {
		t.Fatalf("%+v, %v", m, err)
	}
}

func TestChecksumIsAccepted(t *testing.T) {
	ping := marshal(bson.D{{Key: "ping", Value: 1}})
	m, err := Read(bytes.NewReader(frame(ChecksumPresent, bodySection(ping), make([]byte, 4))))
	must.That(t, err == nil && m.Flags == ChecksumPresent && bytes.Equal(m.Body, ping), "%+v, %v", m, err)
}

func TestUnreadableMessagesAreDescribed(t *testing.T) {
	ping := marshal(bson.D{{Key: "ping", Value: 1}})
	one := marshal(bson.D{{Key: "_id", Value: 1}})
	header := func(size int, op OpCode) []byte { return appendHeader(nil, size, 7, 0, op) }
	broken := bytes.Clone(ping)
	broken[0]++
	lying := sequenceSection("documents", one)
	binary.LittleEndian.PutUint32(lying[1:], 1<<30)
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"oversized":            {header(MaxMessage+1, OpMsg), "message length"},
		"negative length":      {header(-5, OpMsg), "message length"},
		"length of the header": {header(12, OpMsg), "message length"},
		"no flags":             {header(headerSize, OpMsg), "4 bytes are wanted"},
		"compressed":           {append(header(headerSize+9, 2012), make([]byte, 9)...), "opcode 2012"},
		"OP_INSERT":            {header(headerSize, 2002), "opcode 2002"},
		"no body":              {frame(0), "has a body"},
		"two bodies":           {frame(0, bodySection(ping), bodySection(ping)), "section of kind 0"},
		"kind 2":               {frame(0, []byte{2}), "section of kind 2"},
		"illegal flag":         {frame(4, bodySection(ping)), "illegal flags"},
		"broken BSON":          {frame(0, bodySection(broken)), "impossible length"},
		"sequence too long":    {frame(0, bodySection(ping), lying), "bytes are wanted"},
		"nameless sequence":    {frame(0, bodySection(ping), []byte{1, 5, 0, 0, 0, 'x'}), "document sequence"},
	} {
		_, err := Read(bytes.NewReader(c.in))
		expect.That(t, err != nil && strings.Contains(err.Error(), c.want), "%s: %v, want %q", name, err, c.want)
	}
}

func TestEndOfStreamIsDistinguishedFromACutMessage(t *testing.T) {
	msg := AppendMsg(nil, 3, 0, marshal(bson.D{{Key: "ping", Value: 1}}))
	if _, err := Read(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("empty stream: %v", err)
	}
	for n := 1; n < len(msg); n++ {
		if _, err := Read(bytes.NewReader(msg[:n])); err != io.ErrUnexpectedEOF {
			t.Fatalf("cut at %d: %v, want %v", n, err, io.ErrUnexpectedEOF)
		}
	}
}

// A header that claims 48 MB does not allocate 48 MB.
func TestReadAllocatesOnlyForReceivedBytes(t *testing.T) {
	claim := append(appendHeader(nil, MaxMessage, 1, 0, OpMsg), make([]byte, 100)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const runs = 10
	for range runs {
		if _, err := Read(bytes.NewReader(claim)); err != io.ErrUnexpectedEOF {
			t.Fatalf("got %v, want %v", err, io.ErrUnexpectedEOF)
		}
	}
	runtime.ReadMemStats(&after)
	perRun := (after.TotalAlloc - before.TotalAlloc) / runs
	if perRun > 256<<10 {
		t.Fatalf("a header that claims 48 MB made Read allocate %d bytes, want at most %v", perRun, 256<<10)
	}
}

func TestValidateRefusesDeepNesting(t *testing.T) {
	nest := func(levels int) bson.Raw {
		doc := marshal(bson.D{})
		for range levels - 1 {
			doc = marshal(bson.D{{Key: "a", Value: doc}})
		}
		return doc
	}
	expect.NoError(t, Validate(nest(MaxDepth)), "%d levels", MaxDepth)
	expect.That(t, Validate(nest(MaxDepth+1)) != nil, "%d levels passed", MaxDepth+1)
}

func TestValidateAcceptsEveryTypeAndRefusesDamage(t *testing.T) {
	dec, _ := bson.ParseDecimal128("1.50")
	doc := marshal(bson.D{
		{Key: "double", Value: 1.5}, {Key: "string", Value: "a\x00b"}, {Key: "doc", Value: bson.D{{Key: "x", Value: 1}}},
		{Key: "array", Value: bson.A{1, "2"}}, {Key: "bin", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}},
		{Key: "bin2", Value: bson.Binary{Subtype: 2, Data: []byte{1}}}, {Key: "undef", Value: bson.Undefined{}},
		{Key: "oid", Value: bson.ObjectID{1}}, {Key: "bool", Value: true}, {Key: "date", Value: bson.DateTime(1)},
		{Key: "null", Value: nil}, {Key: "re", Value: bson.Regex{Pattern: "a", Options: "i"}},
		{Key: "ptr", Value: bson.DBPointer{DB: "d"}}, {Key: "js", Value: bson.JavaScript("1")}, {Key: "sym", Value: bson.Symbol("s")},
		{Key: "scope", Value: bson.CodeWithScope{Code: "1", Scope: bson.D{{Key: "x", Value: 1}}}}, {Key: "int", Value: int32(1)},
		{Key: "ts", Value: bson.Timestamp{T: 1}}, {Key: "long", Value: int64(1)}, {Key: "dec", Value: dec},
		{Key: "min", Value: bson.MinKey{}}, {Key: "max", Value: bson.MaxKey{}},
	})
	must.Do(t, Validate(doc))
	// Every cut and every single changed byte is either refused or still sound.
	for n := range len(doc) {
		must.That(t, Validate(doc[:n]) != nil, "cut at %d passed", n)
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			changed := bson.Raw(bytes.Clone(doc))
			changed[n] = b
			if Validate(changed) == nil {
				if err := changed.Validate(); err != nil {
					t.Fatalf("byte %d = %#x passed, the driver says %v", n, b, err)
				}
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	ping := marshal(bson.D{{Key: "ping", Value: 1}, {Key: "a", Value: bson.D{{Key: "b", Value: bson.A{"c"}}}}})
	f.Add(AppendMsg(nil, 1, 0, ping))
	f.Add(frame(ChecksumPresent, bodySection(ping), make([]byte, 4)))
	f.Add(frame(0, bodySection(ping), sequenceSection("documents", ping, ping)))
	f.Add(legacyQuery("admin.$cmd", ping))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		if err := m.Body.Validate(); err != nil {
			t.Fatalf("unsound body: %v", err)
		}
		for _, docs := range m.Sequences {
			for _, d := range docs {
				if err := d.Validate(); err != nil {
					t.Fatalf("unsound document: %v", err)
				}
			}
		}
	})
}
