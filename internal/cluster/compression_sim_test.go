package cluster_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
)

const (
	headerSize   = 16 // of every message: length, id, id of the request, opcode
	opReply      = 1
	opCompressed = 2012
	opMsg        = 2013
)

// compressing stands before a simulated cluster, which speaks no compressed messages: it offers a
// compressor, and takes and gives compressed messages.
type compressing struct {
	sim   *simcluster.Cluster
	name  string
	with  driver.CompressionOpts
	taken atomic.Int64 // compressed requests
}

func (c *compressing) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := c.sim.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	here, there := net.Pipe()
	var compressed atomic.Bool
	go func() {
		defer inner.Close()
		for {
			m, err := readMessage(there)
			if err != nil {
				return
			}
			if binary.LittleEndian.Uint32(m[12:]) == opCompressed {
				compressed.Store(true)
				c.taken.Add(1)
				o := c.with
				o.UncompressedSize = int32(binary.LittleEndian.Uint32(m[20:]))
				plain, err := driver.DecompressPayload(m[25:], o)
				if err != nil || m[24] != byte(o.Compressor) {
					return
				}
				copy(m[12:16], m[16:20])
				m = append(m[:headerSize], plain...)
			}
			if writeMessage(inner, m) != nil {
				return
			}
		}
	}()
	go func() {
		defer there.Close()
		for first := true; ; first = false {
			m, err := readMessage(inner)
			if err != nil {
				return
			}
			switch {
			case first:
				m, err = c.offer(m)
			case compressed.Load():
				m, err = c.compress(m)
			}
			if err != nil || writeMessage(there, m) != nil {
				return
			}
		}
	}()
	return here, nil
}

// offer adds the compressor to the answer to a hello.
func (c *compressing) offer(m []byte) ([]byte, error) {
	at := map[uint32]int{opReply: 36, opMsg: 21}[binary.LittleEndian.Uint32(m[12:])]
	var doc bson.D
	if err := bson.Unmarshal(m[at:], &doc); err != nil {
		return nil, err
	}
	body, err := bson.Marshal(append(doc, bson.E{Key: "compression", Value: bson.A{c.name}}))
	return append(m[:at:at], body...), err
}

func (c *compressing) compress(m []byte) ([]byte, error) {
	body, err := driver.CompressPayload(m[headerSize:], c.with)
	out := append([]byte{}, m[:headerSize]...)
	out = append(out, m[12:16]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(m)-headerSize))
	out = append(append(out, byte(c.with.Compressor)), body...)
	binary.LittleEndian.PutUint32(out[12:], opCompressed)
	return out, err
}

func readMessage(r io.Reader) ([]byte, error) {
	m := make([]byte, headerSize)
	if _, err := io.ReadFull(r, m); err != nil {
		return nil, err
	}
	m = append(m, make([]byte, binary.LittleEndian.Uint32(m)-headerSize)...)
	_, err := io.ReadFull(r, m[headerSize:])
	return m, err
}

func writeMessage(w io.Writer, m []byte) error {
	binary.LittleEndian.PutUint32(m, uint32(len(m)))
	_, err := w.Write(m)
	return err
}

func TestMessagesAreCompressedAsTheAddressSays(t *testing.T) {
	sim, err := simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true})
	must(t, err)
	defer func() { _ = sim.Close() }()
	for name, id := range map[string]wiremessage.CompressorID{
		"snappy": wiremessage.CompressorSnappy, "zlib": wiremessage.CompressorZLib, "zstd": wiremessage.CompressorZstd,
	} {
		t.Run(name, func(t *testing.T) {
			between := &compressing{sim: sim, name: name, with: driver.CompressionOpts{Compressor: id, ZlibLevel: 6, ZstdLevel: 6}}
			uri, err := cluster.ParseURI("mongodb://a:1/?compressors=" + name)
			must(t, err)
			c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: between})
			must(t, err)
			defer func() { _ = c.Close(context.Background()) }()
			shards, err := c.Shards(t.Context())
			if err != nil || len(shards) != 3 || between.taken.Load() == 0 {
				t.Errorf("%d shards, %d compressed requests, %v", len(shards), between.taken.Load(), err)
			}
		})
	}
}
