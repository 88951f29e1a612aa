"""Says that it speaks TLS, and does not."""

import socket

with socket.create_server(("127.0.0.1", 0)) as server:
    print(f"wss://127.0.0.1:{server.getsockname()[1]}", flush=True)
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"220 mail.example ESMTP\r\n")
        while connection.recv(4096):
            pass
