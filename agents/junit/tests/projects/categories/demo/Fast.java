package demo;

public interface Fast {}
