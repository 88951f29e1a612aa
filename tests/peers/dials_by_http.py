"""Asks the kit for a page, as if it were a web server, and keeps a connection on which it says nothing."""

import os
import socket
import time

ADDRESS = os.environ["CONFORMANCE_URL"].removeprefix("ws://")
HOST, PORT = ADDRESS.split(":")

mute = socket.create_connection((HOST, int(PORT)))
with socket.create_connection((HOST, int(PORT))) as asking:
    asking.sendall(f"GET / HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode())
    while asking.recv(4096):
        pass
time.sleep(600)
