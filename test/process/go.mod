module shardboard/test/process

go 1.26.0
