package realcluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The parts of the wire protocol that are needed to talk to a server that is not ready yet, and to
// recognize commands on their way through a proxy.
const (
	headerBytes = 16
	opMsg       = 2013
	mostBytes   = 48_000_000 + headerBytes
)

// commandLimit is how long one command to a single server may take.
const commandLimit = 15 * time.Second

// readMessage reads a whole message.
func readMessage(r io.Reader) ([]byte, error) {
	head := make([]byte, headerBytes)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head)
	if n < headerBytes || n > mostBytes {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	m := make([]byte, n)
	copy(m, head)
	_, err := io.ReadFull(r, m[headerBytes:])
	return m, err
}

// bodyOf is the document of an OP_MSG; nil for other messages.
func bodyOf(m []byte) bson.Raw {
	if len(m) < headerBytes+5+5 || binary.LittleEndian.Uint32(m[12:]) != opMsg || m[headerBytes+4] != 0 {
		return nil
	}
	body := m[headerBytes+5:]
	n := int64(binary.LittleEndian.Uint32(body))
	if n < 5 || n > int64(len(body)) {
		return nil
	}
	return bson.Raw(body[:n])
}

// nameOf is the name of the command in a message; "" if it has none.
func nameOf(m []byte) string {
	if first, err := bodyOf(m).IndexErr(0); err == nil {
		return first.Key()
	}
	return ""
}

func appendMessage(request, answers uint32, body bson.Raw) []byte {
	m := make([]byte, headerBytes, headerBytes+5+len(body))
	binary.LittleEndian.PutUint32(m, uint32(headerBytes+5+len(body)))
	binary.LittleEndian.PutUint32(m[4:], request)
	binary.LittleEndian.PutUint32(m[8:], answers)
	binary.LittleEndian.PutUint32(m[12:], opMsg)
	m = append(m, 0, 0, 0, 0, 0) // no flags; a section of one document
	return append(m, body...)
}

// ask sends one command to a server on a connection of its own, without authentication: the server has
// no access control yet, or permits the command without it.
func ask(ctx context.Context, address string, command bson.D) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	body, err := bson.Marshal(append(command, bson.E{Key: "$db", Value: "admin"}))
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	end := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer end()
	if _, err := conn.Write(appendMessage(1, 0, body)); err != nil {
		return nil, err
	}
	m, err := readMessage(conn)
	if err != nil {
		return nil, err
	}
	reply := bodyOf(m)
	if reply == nil {
		return nil, errors.New("the answer is no message")
	}
	if err := refusal(reply); err != nil {
		return reply, fmt.Errorf("%s: %w", command[0].Key, err)
	}
	return reply, nil
}

// commandError is the refusal of a server.
type commandError struct {
	code int64
	text string
}

func (e *commandError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

// refusal is the error in a reply.
func refusal(reply bson.Raw) error {
	if ok, is := reply.Lookup("ok").AsFloat64OK(); is && ok == 1 {
		return nil
	}
	code, _ := reply.Lookup("code").AsInt64OK()
	text, _ := reply.Lookup("errmsg").StringValueOK()
	return &commandError{code, text}
}
