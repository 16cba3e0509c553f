"""What a function returns for given inputs."""
