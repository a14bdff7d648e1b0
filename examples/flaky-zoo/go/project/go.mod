module zoo

go 1.18
