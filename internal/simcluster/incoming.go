package simcluster

import (
	"bufio"
	"net"

	"shardboard/internal/simcluster/wire"
)

// incoming reads the messages of a connection ahead of their execution, so that a
// command that waits notices when its client is gone.
type incoming struct {
	messages chan incomingMessage
	gone     chan struct{} // closed when nothing more can be read
	stop     chan struct{} // closed when nobody receives any more
	ended    chan struct{}
}

type incomingMessage struct {
	message *wire.Message
	err     error // the last one has an error instead
}

func readFrom(conn net.Conn) *incoming {
	in := &incoming{messages: make(chan incomingMessage), gone: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{})}
	go in.run(bufio.NewReaderSize(conn, 16<<10))
	return in
}

func (in *incoming) run(from *bufio.Reader) {
	defer close(in.ended)
	for {
		m, err := wire.Read(from)
		if err != nil {
			close(in.gone)
		}
		select {
		case in.messages <- incomingMessage{m, err}:
		case <-in.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// close ends the reading. The connection is closed already.
func (in *incoming) close() {
	close(in.stop)
	<-in.ended
}
