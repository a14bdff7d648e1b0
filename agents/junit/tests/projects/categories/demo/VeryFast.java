package demo;

public interface VeryFast extends Fast {}
